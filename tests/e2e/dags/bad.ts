// One task for each way in which a handler can go wrong; none of them may harm another.
import { Dag } from "@millrace/sdk";

const dag = new Dag("bad", { isPausedUponCreation: false, maxActiveTasks: 50 });

function cyclic(): object {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}

// Types would refuse most of these; plain JavaScript would not.
const untyped = (value: unknown): never => value as never;

dag.task("symbol", () => untyped({ rows: [{ amount: Symbol("x") }] }))();
dag.task("zero_byte", () => "a\u0000b")();
dag.task("too_big", () => "x".repeat(50 * 1024 * 1024))();
dag.task("cyclic", () => untyped(cyclic()))();
dag.task("not_a_number", () => NaN)();
dag.task("throws", () => {
  throw new Error("thrown on purpose");
})();
dag.task("exits", () => {
  process.exit(3);
})();
dag.task("killed", () => {
  process.kill(process.pid, "SIGKILL");
})();
dag.task("out_of_memory", () => {
  const kept: number[][] = [];
  for (;;) kept.push(Array.from({ length: 100_000 }, (_, i) => i * 1.5));
})();
dag.task("too_long", async () => await new Promise(() => undefined), { executionTimeout: 1 })();
dag.task(
  "blocks_the_loop",
  () => {
    for (;;);
  },
  { executionTimeout: 1 },
)();
dag.task("good", () => "good")();
