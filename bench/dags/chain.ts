// W1: tasks one after the other, each computing a Fibonacci number.
import { Dag } from "@millrace/sdk";
import { timed } from "./timed.ts";

function chain(dagId: string, tasks: number, n: number): void {
  const dag = new Dag(dagId, { isPausedUponCreation: false });
  let last = dag.task("t0", timed(n))();
  for (let t = 1; t < tasks; t++) {
    const next = dag.task(`t${t}`, timed(n))();
    last.before(next);
    last = next;
  }
}

chain("chain_40", 40, 10);
chain("chain_heavy", 10, 33);
