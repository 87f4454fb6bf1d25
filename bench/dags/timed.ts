// A task of the workloads that measure lag: it computes a Fibonacci number and returns when user code began.
const fibo = (n: number): number => (n < 2 ? n : fibo(n - 1) + fibo(n - 2));

export function timed(n: number): () => number {
  return () => {
    const startedMs = performance.timeOrigin + performance.now();
    fibo(n);
    return startedMs;
  };
}
