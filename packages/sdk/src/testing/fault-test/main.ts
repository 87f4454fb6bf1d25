// `npm run test:simulation -- --seeds 100000 --seed 1`: many seeds on all cores; the first that fails is printed with its
// history and ends the program with 1.
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { playSeeds, type FailedSeed } from "./play-seeds.ts";

const BATCH = 500;

interface Batch {
  readonly from: number;
  readonly count: number;
}

if (isMainThread) await main();
else parentPort?.on("message", ({ from, count }: Batch) => parentPort?.postMessage(playSeeds(from, count)));

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { seeds: { type: "string" }, seed: { type: "string" }, threads: { type: "string" } },
  });
  const whole = (name: string, given: string | undefined, standard: number): number => {
    const value = Number(given ?? standard);
    if (Number.isInteger(value) && value > 0) return value;
    throw new Error(`--${name} is to be a whole number above 0, not ${given}`);
  };
  const seeds = whole("seeds", values.seeds, 100_000);
  const first = whole("seed", values.seed, 1);
  const threads = Math.min(whole("threads", values.threads, availableParallelism()), Math.ceil(seeds / BATCH));
  const begun = performance.now();
  let next = first;
  let failed: FailedSeed | undefined;
  await Promise.all(
    Array.from({ length: threads }, async () => {
      // A seed leaves nothing behind: with room enough its rows are gone before the collector has to look at them.
      const worker = new Worker(new URL(import.meta.url), {
        workerData: workerData as unknown,
        resourceLimits: { maxYoungGenerationSizeMb: 64 },
      });
      while (next < first + seeds && failed === undefined) {
        const batch: Batch = { from: next, count: Math.min(BATCH, first + seeds - next) };
        next += batch.count;
        failed ??= await new Promise<FailedSeed | undefined>((resolve, reject) => {
          worker.once("message", resolve);
          worker.once("error", reject);
          worker.postMessage(batch);
        });
        worker.removeAllListeners("error");
      }
      await worker.terminate();
    }),
  );
  const seconds = (performance.now() - begun) / 1000;
  if (failed !== undefined) {
    process.stdout.write(`${failed.trace.join("\n")}\n\nseed ${failed.seed}: ${failed.message}\n`);
    process.exitCode = 1;
    return;
  }
  const rate = Math.round(seeds / seconds);
  process.stdout.write(
    `${seeds} seeds from ${first} in ${seconds.toFixed(1)} s, ${rate} a second on ${threads} threads\n`,
  );
}
