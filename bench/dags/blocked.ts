// W5: tasks that wait for a long time, in three ways, and chains beside them that have nothing to wait for.
import { Dag } from "@millrace/sdk";
import { timed } from "./timed.ts";

const DAGS = 100;
const TASKS = 100;
const options = { isPausedUponCreation: false, maxActiveRuns: 1_000, maxActiveTasks: 1_000 };
const fail = (): never => {
  throw new Error("it always fails");
};

for (let d = 0; d < DAGS; d++) {
  const retry = new Dag(`retry_${d}`, options);
  const again = retry.task("t0", fail, { retries: 1, retryDelay: 86_400 })();
  for (let t = 1; t < TASKS; t++) again.before(retry.task(`t${t}`, () => undefined)());

  const pool = new Dag(`pool_${d}`, options);
  for (let t = 0; t < TASKS; t++) pool.task(`t${t}`, () => undefined, { pool: "full" })();

  const past = new Dag(`past_${d}`, options);
  const gate = past.task("t0", fail, { dependsOnPast: true })();
  for (let t = 1; t < TASKS; t++) gate.before(past.task(`t${t}`, () => undefined)());
}

const front = new Dag("front", options);
let last = front.task("t0", timed(10))();
for (let t = 1; t < 10; t++) {
  const next = front.task(`t${t}`, timed(10))();
  last.before(next);
  last = next;
}
