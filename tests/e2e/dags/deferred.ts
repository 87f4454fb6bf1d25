// Tasks that wait without a worker: for a moment, for triggers of this file, and for triggers that misbehave.
import { deferrable, Dag, waitFor } from "@millrace/sdk";
import { after, defineTrigger } from "@millrace/sdk/triggers";

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const counted = defineTrigger({
  name: "counted",
  run: async ({ to }: { to: number }, { log }) => {
    log("info", `counting to ${to}`);
    for (let i = 0; i < to; i++) await pause(20);
    return { counted: to };
  },
});

const blocks = defineTrigger({
  name: "blocks",
  run: async (_: object) => {
    await pause(100);
    const end = performance.now() + 5_000;
    while (performance.now() < end);
    return { done: true };
  },
});

const throws = defineTrigger({
  name: "throws",
  run: (_: object): Promise<{ never: true }> => Promise.reject(new RangeError("out of range")),
});

const dag = new Dag("waits", { isPausedUponCreation: false });

dag.task(
  "moment",
  deferrable({
    start: () => waitFor(after(0.2), { state: { asked: "early" } }),
    resume: (event, _args, { asked }) => `${asked} until ${event.at.length > 0}`,
  }),
)();
dag.task("own", deferrable({ start: () => counted({ to: 10 }), resume: ({ counted: n }) => n }))();
dag.task("patient", deferrable({ start: () => counted({ to: 100 }), resume: ({ counted: n }) => n }))();
dag.task("unattended", deferrable({ trigger: after(0.1) }))();
dag.task("blocking", deferrable({ start: () => blocks({}), resume: () => "never" }))();
dag.task(
  "throwing",
  deferrable({ start: () => throws({}), resume: () => "never", onNoEvent: (error) => error.message }),
)();
dag.task(
  "limited",
  deferrable({ start: () => after(3_600), resume: () => "never", onNoEvent: (error) => error.name, timeout: 1 }),
)();
