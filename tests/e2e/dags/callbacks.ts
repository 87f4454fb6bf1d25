// Callbacks of every kind. Each tells what it saw in a variable named by its run, task and kind.
import { Dag, getClient, getContext, SkipTask, type DagCallbackEvent, type TaskCallbackEvent } from "@millrace/sdk";

const options = { isPausedUponCreation: false };

const told = (kind: string) => async (event: TaskCallbackEvent | DagCallbackEvent) => {
  const context = getContext();
  console.log(`${kind} speaks`);
  const task = "taskId" in event ? event.taskId : "dag";
  const seen = { ...event, contextTask: context.taskId, contextKey: context.idempotencyKey, params: context.params };
  await getClient().setVariable(`${event.runId}/${task}/${kind}`, JSON.stringify(seen));
};

const every = {
  onExecute: told("onExecute"),
  onSuccess: told("onSuccess"),
  onFailure: told("onFailure"),
  onRetry: told("onRetry"),
  onSkipped: told("onSkipped"),
};

const failing = new Dag("callbacks_failing", {
  ...options,
  params: { channel: "ops" },
  onFailure: told("dagOnFailure"),
  onSuccess: told("dagOnSuccess"),
});
const broken = failing.task(
  "broken",
  () => {
    throw new TypeError(`try ${getContext().tryNumber} fails`);
  },
  { ...every, retries: 1, retryDelay: 0 },
)();
failing
  .task("after", () => 1, every)()
  .after(broken);

const passing = new Dag("callbacks_passing", {
  ...options,
  onFailure: told("dagOnFailure"),
  onSuccess: told("dagOnSuccess"),
});
const skipping = passing.task(
  "skipping",
  () => {
    throw new SkipTask();
  },
  every,
)();
passing
  .task("skipped_by_rule", () => 1, every)()
  .after(skipping);
passing.task("fine", () => 1, every)();

const hostile = new Dag("callbacks_hostile", options);
hostile.task("throws", () => 1, {
  onSuccess: [
    function shout() {
      throw new RangeError("the callback is broken");
    },
    told("onSuccess"),
  ],
})();
hostile.task("exits", () => 1, { onSuccess: () => process.exit(3) })();
hostile.task("hangs", () => 1, {
  onSuccess: () => {
    for (;;);
  },
})();

const slow = new Dag("callbacks_slow", options);
slow.task("slow", () => new Promise((resolve) => setTimeout(resolve, 120_000, 1)), every)();

const crashing = new Dag("callbacks_crashing", options);
crashing.task("quick", () => 1, {
  onSuccess: async ({ runId, key }) => {
    const client = getClient();
    const first = await client.getVariable(`${runId}/first`);
    await client.setVariable(`${runId}/${first === undefined ? "first" : "second"}`, key);
    // The first of them waits for its worker to be killed.
    if (first === undefined) await new Promise((resolve) => setTimeout(resolve, 120_000));
  },
})();
