// W1: tasks one after the other, each computing a Fibonacci number; the result tells when user code began.
import { Dag } from "@millrace/sdk";

const fibo = (n: number): number => (n < 2 ? n : fibo(n - 1) + fibo(n - 2));

function timed(n: number): () => number {
  return () => {
    const startedMs = performance.timeOrigin + performance.now();
    fibo(n);
    return startedMs;
  };
}

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
