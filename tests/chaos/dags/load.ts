// The load: every kind of thing a DAG does, short and long, so that each fault finds something in every state.
// check/expected.ts says what must be true of it, by itself.
import {
  Dag,
  deferrable,
  every,
  getContext,
  waitFor,
  type DagCallbackEvent,
  type TaskCallbackEvent,
} from "@millrace/sdk";
import { after } from "@millrace/sdk/triggers";
import { failAfter, note, work } from "./effects.ts";
import { START } from "./start.ts";

const quick = { retryDelay: 0.2, retries: 2 };
const told = (kind: string) => (event: TaskCallbackEvent | DagCallbackEvent) => {
  note("callback", { kind, callbackKey: event.key });
};

// A chain with a slow middle, in which most losses happen, and values that are handed on.
const chain = new Dag("chaos_chain", { maxActiveRuns: 6, onSuccess: told("dagOnSuccess") });
const first = chain.task("first", () => work(100), quick)();
const slow = chain.task("slow", ({ from }: { from: string }) => work(1_500 + from.length), quick)({ from: first });
chain.task("last", ({ from }: { from: string }) => work(50 + from.length), {
  ...quick,
  onSuccess: told("onSuccess"),
})({ from: slow });

// Failures of the user's own, with callbacks for each.
const flaky = new Dag("chaos_flaky", { maxActiveRuns: 4, onFailure: told("dagOnFailure") });
const recovers = flaky.task("recovers", () => (getContext().tryNumber === 1 ? failAfter(50) : work(100)), {
  ...quick,
  onRetry: told("onRetry"),
  onFailure: told("onFailure"),
  onSuccess: told("onSuccess"),
})();
const doomed = flaky.task("doomed", () => failAfter(80), {
  retryDelay: 0.2,
  retries: 1,
  onRetry: told("onRetry"),
  onFailure: told("onFailure"),
})();
doomed.after(recovers);
flaky
  .task("blocked", () => work(10), quick)()
  .after(doomed);
flaky
  .task("cleanup", () => work(50), { ...quick, triggerRule: "all_done" })()
  .after(doomed);

// Never run again by itself.
const once = new Dag("chaos_once", { maxActiveRuns: 4 });
once.task("once", () => work(700), { retries: 0, onFailure: told("onFailure") })();

// Ways to go.
const branch = new Dag("chaos_branch", { maxActiveRuns: 4 });
const left = branch.task("left", () => work(60), quick)();
const right = branch.task("right", () => work(60), quick)();
const choose = branch.task(
  "choose",
  async () => {
    await work(30);
    return getContext().runId.length % 2 === 0 ? left : right;
  },
  quick,
)();
branch.switch(choose).case(left).case(right);
branch
  .task("join", () => work(40), { ...quick, triggerRule: "none_failed_min_one_success" })()
  .after(left, right);

// Limits of every kind.
const wide = new Dag("chaos_wide", { maxActiveRuns: 2, maxActiveTasks: 4 });
for (const name of ["a", "b", "c"]) wide.task(`narrow_${name}`, () => work(250), { ...quick, pool: "narrow" })();
wide.task("heavy", () => work(250), { ...quick, pool: "narrow", poolSlots: 2 })();
wide.task("alone", () => work(150), { ...quick, pool: "single" })();
wide.task("rare", () => work(200), { ...quick, maxActiveTisPerDag: 1 })();

// Tasks that wait without a worker, and go on in another process.
const waits = new Dag("chaos_waits", { maxActiveRuns: 6 });
const waited = waits.task(
  "waited",
  deferrable({
    start: () => {
      note("start");
      return waitFor(after(0.8), { state: getContext().idempotencyKey });
    },
    resume: async (_event, _args, begun) => {
      note("resume");
      await new Promise((resolve) => setTimeout(resolve, 150));
      note("end");
      return begun;
    },
  }),
  quick,
)();
waits.task("after_wait", ({ from }: { from: string }) => work(20 + from.length), quick)({ from: waited });

// As long as its run asks for.
const paced = new Dag("chaos_paced", { maxActiveRuns: 4, params: { ms: 1_000 } });
paced.task("paced", () => work(Number(getContext().params["ms"])), quick)();

// By the clock.
const ticking = new Dag("chaos_ticking", {
  schedule: every({ seconds: 2 }),
  startDate: new Date(START),
  catchup: true,
  maxActiveRuns: 3,
});
ticking.task("tick", () => work(80), quick)();
