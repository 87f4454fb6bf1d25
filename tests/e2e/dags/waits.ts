// Tasks that wait in every way there is. Notes of what runs go to a file in the folder that the run is given.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { approval, Dag, deferrable, getClient, getContext, hitl, waitFor } from "@millrace/sdk";
import { externalTask } from "@millrace/sdk/operators";
import { sensor } from "@millrace/sdk/sensors";
import { after, defineTrigger, endTask } from "@millrace/sdk/triggers";

const unpaused = { isPausedUponCreation: false } as const;
const note = (what: string): void =>
  appendFileSync(join(String(getContext().conf["folder"]), `${getContext().runId}.notes`), `${what}\n`);

const soon = defineTrigger({ name: "soon", run: ({ n }: { n: number }) => Promise.resolve({ n: n + 1 }) });
const ending = defineTrigger({
  name: "ending",
  run: ({ how }: { how: "failed" | "skipped" }) =>
    Promise.resolve(how === "failed" ? endTask.failed("it ended badly") : endTask.skipped("there was nothing")),
});

/** Each way ends well. */
const ways = new Dag("waits_ways", unpaused);
const own = ways.task(
  "own",
  deferrable({
    start: async () => {
      await getClient().setXCom({ key: "half", value: "kept" });
      return waitFor(soon({ n: 1 }), { state: { from: "start" } });
    },
    resume: async ({ n }, _args, { from }) => ({
      n,
      from,
      half: (await getClient().getXCom<string>({ key: "half" })) ?? "lost",
      tryNumber: getContext().tryNumber,
    }),
  }),
)();
const timed = ways.task("timed", deferrable({ trigger: after({ seconds: 0.2 }) }))();
const late = ways.task(
  "late",
  deferrable({
    start: () => waitFor(after({ hours: 1 }), { state: "none" }),
    resume: () => "came",
    onNoEvent: (error) => error.name,
    timeout: 0.3,
  }),
)();
const poked = ways.task(
  "poked",
  sensor({ poke: (_args, { pokeNumber }) => pokeNumber === 3, mode: "reschedule", pokeInterval: 0.1, timeout: 60 }),
)();
const watched = ways.task(
  "watched",
  sensor({ poke: (_args, { pokeNumber }) => pokeNumber === 3, mode: "deferrable", pokeInterval: 0.1, timeout: 60 }),
)();
const asked = ways.task(
  "asked",
  hitl({ subject: "Which?", options: ["a", "b"], defaults: "b", responseTimeout: 0.5 }),
)();
const child = ways.triggerDagRun({
  taskId: "child",
  dagId: "waits_child",
  waitForCompletion: true,
  pokeInterval: 0.2,
  conf: { from: "its parent" },
});
ways
  .task("sum", () => "done")()
  .after(own, timed, late, poked, watched, asked, child);

const children = new Dag("waits_child", unpaused);
children.task("echo", () => String(getContext().conf["from"]))();

/** Waits for its neighbour at the same logical date. */
const left = new Dag("waits_left", unpaused);
left.task("first", () => new Promise<number>((resolve) => setTimeout(resolve, 500, 1)))();
const right = new Dag("waits_right", unpaused);
right.task("second", externalTask({ externalDagId: "waits_left", externalTaskId: "first", pokeInterval: 0.2 }))();

/** Waits until somebody does something about it. */
const long = new Dag("waits_long", unpaused);
long.task(
  "long",
  deferrable({
    start: () => {
      note("start");
      return getContext().tryNumber > 1 ? "second" : waitFor(after({ hours: 1 }), { state: null });
    },
    resume: () => "resumed",
  }),
  { retries: 1 },
)();
const approved = new Dag("waits_approval", unpaused);
const gate = approved.task("gate", approval({ subject: "May it go?" }))();
approved
  .task("go", () => "went")()
  .after(gate);

/** Each fails, or ends, with a reason that names what was wrong. */
const bad = new Dag("waits_bad", unpaused);
bad.task(
  "missing",
  deferrable({
    start: () => defineTrigger({ name: "made_too_late", run: () => Promise.resolve(1) })({}),
    resume: (n) => n,
  }),
)();
const big = defineTrigger({ name: "big", run: () => Promise.resolve("x".repeat(10 * 2 ** 20)) });
bad.task("too_big", deferrable({ start: () => big({}), resume: (text) => text.length }))();
bad.task("no_json", deferrable({ start: () => soon({ n: 1n as unknown as number }), resume: () => 1 }))();
bad.task("negative", deferrable({ start: () => after({ seconds: -1 }), resume: () => 1 }))();
bad.task(
  "hangs",
  sensor({ poke: () => new Promise<boolean>(() => undefined), mode: "poke", pokeInterval: 1, timeout: 1 }),
)();
bad.task("soft", sensor({ poke: () => false, mode: "poke", pokeInterval: 30, timeout: 60, softFail: true }), {
  executionTimeout: 1,
})();
bad.task("ends_badly", deferrable({ start: () => ending({ how: "failed" }), resume: () => 1 }))();
bad.task("ends_skipped", deferrable({ start: () => ending({ how: "skipped" }), resume: () => 1 }))();

/** A hundred pokes. */
const pokes = new Dag("waits_pokes", unpaused);
pokes.task(
  "pokes",
  sensor({
    poke: (_args, { pokeNumber }) => {
      note(`poke ${pokeNumber}`);
      return pokeNumber === 101;
    },
    mode: "reschedule",
    pokeInterval: 0.01,
    timeout: 120,
  }),
)();
