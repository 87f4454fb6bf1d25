// A task that takes long enough for its worker to be killed meanwhile, and one for the other kind of worker.
import { setTimeout as sleep } from "node:timers/promises";
import { Dag, getContext } from "@millrace/sdk";

const dag = new Dag("slow", { isPausedUponCreation: false });

const work = dag.task(
  async function work() {
    const { tryNumber } = getContext();
    console.log(`try ${tryNumber} works`);
    await sleep(tryNumber === 1 ? 120_000 : 100);
    return tryNumber;
  },
  { retries: 1, retryDelay: 1 },
);

const weigh = dag.task(({ tries }: { tries: number }) => tries, { taskId: "weigh", queue: "heavy" });

weigh({ tries: work() });
