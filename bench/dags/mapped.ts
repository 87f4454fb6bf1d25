// W6: one task returns a list, another is mapped over it, a third takes all that came of it.
import { Dag, getContext } from "@millrace/sdk";

const dag = new Dag("mapped", { isPausedUponCreation: false, maxActiveTasks: 100_000, maxActiveRuns: 10 });
const list = dag.task("list", () => Array.from({ length: Number(getContext().conf["n"]) }, (_, i) => i))();
const each = dag.task("each", ({ n }: { n: number }) => n * 2).expand({ n: list });
dag.task("sum", ({ all }: { all: number[] }) => all.reduce((sum, n) => sum + n, 0))({ all: each });

// Runs beside it, for which there is always room: what they lose, they lose to the work on the mapped task.
const beside = new Dag("beside", { isPausedUponCreation: false, maxActiveRuns: 10 });
const first = { priorityWeight: 100, weightRule: "absolute" } as const;
let last = beside.task("t0", () => undefined, first)();
for (let t = 1; t < 10; t++) {
  const next = beside.task(`t${t}`, () => undefined, first)();
  last.before(next);
  last = next;
}
