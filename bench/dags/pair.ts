// W8: the smallest DAG with an edge.
import { Dag } from "@millrace/sdk";

const dag = new Dag("pair", { isPausedUponCreation: false, maxActiveRuns: 100_000, maxActiveTasks: 100_000 });
const first = dag.task("first", () => undefined)();
first.before(dag.task("second", () => undefined)());
