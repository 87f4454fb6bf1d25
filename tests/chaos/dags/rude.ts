// Handlers that harm the process they run in, or the worker that started it. Each does so in its first try only.
import { Dag, getContext } from "@millrace/sdk";
import { note, work } from "./effects.ts";

const quick = { retryDelay: 0.2, retries: 2 };
const isFirst = () => getContext().tryNumber === 1;

const rude = new Dag("chaos_rude", { maxActiveRuns: 2 });

// Longer than the lease of the fleet: the worker says that the attempt lives, not the handler.
rude.task(
  "blocks",
  () => {
    note("start");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
    note("end");
    return getContext().idempotencyKey;
  },
  quick,
)();

rude.task(
  "hogs",
  () => {
    if (!isFirst()) return work(50);
    note("start");
    note("throw");
    const kept: number[][] = [];
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, i) => i * 1.5));
  },
  quick,
)();

rude.task(
  "murders",
  async () => {
    if (!isFirst() || getContext().runId.length % 2 === 0) return await work(50);
    note("start", { murders: process.ppid });
    process.kill(process.ppid, "SIGKILL");
    return await work(60_000, { isStarted: true });
  },
  quick,
)();
