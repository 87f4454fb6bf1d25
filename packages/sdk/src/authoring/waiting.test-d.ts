// What the compiler has to accept and to refuse in a task that waits. Compiled by tsc, never run.
import {
  approval,
  Dag,
  deferrable,
  hitl,
  waitFor,
  type HitlAnswer,
  type Json,
  type TaskRef,
  type TriggerFailed,
  type TriggerTimeout,
} from "../index.ts";
import { externalTask, triggerDagRun, type TriggeredRun } from "../operators/index.ts";
import { fileSensor, httpSensor, pokeReturn, sensor, sqlSensor, timeSensor } from "../sensors/index.ts";
import {
  after,
  defineTrigger,
  endTask,
  fileExists,
  until,
  type FileExistsEvent,
  type Trigger,
} from "../triggers/index.ts";

const dag = new Dag("waiting_types");
const day = dag.task("day", () => "2026-01-01")();
const count = dag.task("count", () => 3)();

// The event's type reaches resume, and what resume returns is the task's value.
const found = dag.task(
  "found",
  deferrable({
    start: ({ day: on }: { day: string }) => fileExists({ path: `/data/${on}` }),
    resume: (event, { day: on }) => ({ bytes: event.size, on }),
  }),
);
export const foundRef: TaskRef<{ bytes: number; on: string }> = found({ day });
// @ts-expect-error start takes a string
found({ day: count });
deferrable({
  start: () => fileExists({ path: "/data" }),
  // @ts-expect-error the event has no such field
  resume: (event) => event.rows,
});

// A value of start is a value of the task, and state reaches resume.
const either = dag.task(
  "either",
  deferrable({
    start: async ({ n }: { n: number }) =>
      n > 3 ? "nothing to wait for" : waitFor(until(new Date()), { state: { n }, timeout: 5 }),
    resume: (event, _args, state) => state.n + event.at.length,
    onNoEvent: (error: TriggerTimeout | TriggerFailed, _args, state) => error.trigger.length + state.n,
  }),
);
export const eitherRef: TaskRef<string | number> = either({ n: count });
deferrable({
  start: () => after(5),
  resume: (_event, _args, state) => {
    const nothing: null = state;
    return nothing;
  },
});
// @ts-expect-error start needs a resume
deferrable({ start: () => after(5) });

// From the trigger.
export const started: TaskRef<FileExistsEvent> = dag.task(
  "started",
  deferrable({ trigger: fileExists({ path: "/data" }), timeout: 60 }),
)();
export const resumed: TaskRef<number> = dag.task(
  "resumed",
  deferrable({ trigger: fileExists({ path: "/data" }), resume: (event) => event.size }),
)();
dag.task(
  "unsafe",
  // @ts-expect-error a regular expression does not survive
  deferrable({ trigger: after(1), resume: () => /x/ }),
);

// Triggers of one's own.
const rowArrives = defineTrigger({
  name: "row_arrives",
  run: async ({ table }: { table: string }, { signal, log, task, client }) => {
    log("info", `${table} ${task.taskId} ${signal.aborted}`);
    return { id: Number(await client.getVariable(table)) };
  },
});
export const row: Trigger<{ id: number }> = rowArrives({ table: "sales" });
// @ts-expect-error the kwarg is missing
rowArrives();
// @ts-expect-error the kwarg has another type
rowArrives({ table: 1 });
const ticks = defineTrigger({
  name: "ticks",
  async *run(_kwargs: { every?: number }, { signal }) {
    while (!signal.aborted) yield Math.random() > 2 ? endTask.skipped("no") : 5;
  },
});
export const tick: Trigger<number> = ticks();
export const nothing: Trigger<null> = defineTrigger({ name: "nothing", run: async () => {} })();
// @ts-expect-error a Date does not survive
defineTrigger({ name: "dated", run: async () => new Date() });
const dated = defineTrigger({ name: "takes_date", run: async ({ at }: { at: Date }) => at.getTime() });
// @ts-expect-error a kwarg has to survive as well
dated({ at: new Date() });

// Sensors.
export const plain: TaskRef<undefined> = dag.task("plain", sensor({ poke: () => Math.random() > 0.5 }))();
export const valued: TaskRef<number> = dag.task(
  "valued",
  sensor({
    poke: async ({ n }: { n: number }) => (n > 3 ? pokeReturn(true, n) : pokeReturn(false)),
    mode: "reschedule",
  }),
)({ n: count });
// @ts-expect-error the input is missing
dag.task("valued", sensor({ poke: ({ n }: { n: number }) => n > 3 }))();
// @ts-expect-error a poke answers with true or false
sensor({ poke: () => 1 });
// @ts-expect-error there is no such mode
sensor({ poke: () => true, mode: "deferable" });
sensor({ poke: async (_args, { signal }) => !signal.aborted });
export const at: TaskRef<{ readonly at: string }> = dag.task("at", timeSensor({ at: (context) => context.runAfter }))();
dag.task("file", fileSensor({ path: (_context, { day: on }: { day: string }) => `/data/${on}` }))({ day });
dag.task("http", httpSensor({ request: { url: "http://localhost", field: { path: ["done"] } } }))();
// @ts-expect-error only a triggerer has the driver
sqlSensor({ connectionId: "db", sql: "select 1", mode: "poke" });

// People.
export const answer: TaskRef<HitlAnswer> = dag.task(
  "ask",
  hitl({ subject: (_context, { n }: { n: number }) => `What about ${n}?`, options: ["yes", "no"], defaults: "no" }),
)({ n: count });
dag.task("approve", approval({ subject: "Go?", failOnReject: true }))();
// @ts-expect-error an approval has its own options
approval({ subject: "Go?", options: ["yes"] });

// Other DAGs.
export const run: TaskRef<TriggeredRun> = dag.triggerDagRun({
  taskId: "go",
  dagId: "other",
  conf: { day, fixed: [1, 2], rows: foundRef.get("bytes") },
  waitForCompletion: true,
});
dag.taskGroup("g").triggerDagRun({ taskId: "go", dagId: "other" }).after(run);
// @ts-expect-error there is no such option
dag.triggerDagRun({ taskId: "go", dagId: "other", waitForCompletition: true });
dag.task("go2", triggerDagRun({ dagId: "other", conf: (_context, { n }: { n: number }) => ({ n }) }))({ n: count });
dag.task("external", externalTask({ externalDagId: "other", executionDelta: { hours: 1 } }))();
export const json: Json = null;
