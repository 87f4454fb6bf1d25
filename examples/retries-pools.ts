// A task that fails twice before it succeeds, and tasks that share a pool: one of them takes two of its slots.
import { Dag, getContext } from "@millrace/sdk";

const dag = new Dag("retries_pools", {
  description: "Fails twice, then succeeds; its tasks take slots of a pool.",
  schedule: null,
  tags: ["example"],
  isPausedUponCreation: false,
});

const flaky = dag.task(
  function flaky() {
    const { tryNumber } = getContext();
    if (tryNumber < 3) throw new Error(`try ${tryNumber} fails, as it should`);
    return tryNumber;
  },
  { retries: 2, retryDelay: 1 },
);

const heavy = dag.task(
  function heavy({ tries }: { tries: number }) {
    return `succeeded at try ${tries}`;
  },
  { pool: "default_pool", poolSlots: 2, priorityWeight: 10 },
);

const light = dag.task(
  function light({ tries }: { tries: number }) {
    return tries;
  },
  { pool: "default_pool" },
);

const tries = flaky();
heavy({ tries });
light({ tries });
