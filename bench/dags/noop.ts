// W4: DAGs of ten tasks that do nothing, in a chain, so that each task is scheduled by the end of another.
import { Dag } from "@millrace/sdk";

const DAGS = 100;
const TASKS = 10;

for (let d = 0; d < DAGS; d++) {
  const dag = new Dag(`noop_${String(d).padStart(3, "0")}`, {
    maxActiveRuns: 1_000,
    maxActiveTasks: 1_000,
    isPausedUponCreation: false,
  });
  let last = dag.task("t0", () => undefined)();
  for (let t = 1; t < TASKS; t++) {
    const next = dag.task(`t${t}`, () => undefined)();
    last.before(next);
    last = next;
  }
}
