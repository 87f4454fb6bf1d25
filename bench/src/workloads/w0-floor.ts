// W0: what the machine can do at all, measured in the same run as the rest. The denominators of every ratio.
import { Queue, Worker, FlowProducer } from "bullmq";
import type { FlowJob } from "bullmq";
import { Redis } from "ioredis";
import pg from "pg";
import type { Services } from "@millrace/testkit/services";
import { publish } from "../rig/report.ts";
import { median, quantile } from "../rig/statistics.ts";

export interface Floor {
  readonly commitMs: number;
  readonly hopMs: number;
  readonly bullJobsPerSecond: number;
}

export async function w0(services: Services, quick: boolean): Promise<Floor> {
  const commits = quick ? 200 : 1_000;
  const single = await commitsAt(services.postgresUrl, 1, commits);
  const [eight, many] = [
    await commitsAt(services.postgresUrl, 8, commits),
    await commitsAt(services.postgresUrl, 32, commits),
  ];
  const batch = await commitsAt(services.postgresUrl, 1, commits / 4, 100);
  const jobs = quick ? 5_000 : 20_000;
  await bull(services.redisUrl, jobs / 5);
  const bullRuns = [];
  for (let i = 0; i < (quick ? 2 : 5); i++) bullRuns.push(await bull(services.redisUrl, jobs));
  const hops = await bullHops(services.redisUrl, quick ? 200 : 1_000);
  const flowMs = await flowChain(services.redisUrl, 40);
  const floor = { commitMs: median(single.latencies), hopMs: median(hops), bullJobsPerSecond: median(bullRuns) };
  publish({
    id: "W0",
    title: "floor",
    rows: [
      {
        metric: "1-row commit, 1 client",
        value: `${floor.commitMs.toFixed(2)} ms p50, ${single.perSecond.toFixed(0)}/s`,
      },
      {
        metric: "1-row commit, 8 clients",
        value: `${median(eight.latencies).toFixed(2)} ms p50, ${eight.perSecond.toFixed(0)}/s`,
      },
      {
        metric: "1-row commit, 32 clients",
        value: `${median(many.latencies).toFixed(2)} ms p50, ${many.perSecond.toFixed(0)}/s`,
      },
      { metric: "commit of 100 rows", value: `${median(batch.latencies).toFixed(2)} ms p50` },
      { metric: "BullMQ addBulk + process (R_bull)", value: `${floor.bullJobsPerSecond.toFixed(0)} jobs/s` },
      { metric: "BullMQ hop", value: `${floor.hopMs.toFixed(2)} ms p50, ${quantile(hops, 0.99).toFixed(2)} p99` },
      { metric: "BullMQ flow, chain of 40", value: `${flowMs.toFixed(0)} ms` },
    ],
    figures: {
      floor,
      bullRuns,
      flowMs,
      commits: { single: single.perSecond, eight: eight.perSecond, many: many.perSecond },
    },
  });
  return floor;
}

async function commitsAt(url: string, clients: number, total: number, rows = 1) {
  const connections = await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = new pg.Client(url);
      await client.connect();
      return client;
    }),
  );
  await connections[0]?.query("create table if not exists bench_commit (n int)");
  const latencies: number[] = [];
  const started = performance.now();
  await Promise.all(
    connections.map(async (client) => {
      for (let i = 0; i < total / clients; i++) {
        const at = performance.now();
        await client.query({
          name: "c",
          text: "insert into bench_commit select generate_series(1, $1::int)",
          values: [rows],
        });
        latencies.push(performance.now() - at);
      }
    }),
  );
  const perSecond = (latencies.length * 1000) / (performance.now() - started);
  await Promise.all(connections.map((client) => client.end()));
  return { latencies, perSecond };
}

const QUIET = { removeOnComplete: true, removeOnFail: true };

async function bull(url: string, jobs: number): Promise<number> {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const name = `bench-${Date.now()}`;
  const queue = new Queue(name, { connection });
  let done = 0;
  let finish: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (finish = resolve));
  const worker = new Worker(name, () => (++done === jobs ? Promise.resolve(finish()) : Promise.resolve()), {
    connection,
    concurrency: 100,
  });
  await worker.waitUntilReady();
  const started = performance.now();
  for (let i = 0; i < jobs; i += 1_000) {
    await queue.addBulk(
      Array.from({ length: Math.min(1_000, jobs - i) }, (_, k) => ({ name: "j", data: { i: i + k }, opts: QUIET })),
    );
  }
  await all;
  const rate = (jobs * 1000) / (performance.now() - started);
  await worker.close();
  await queue.obliterate({ force: true });
  await queue.close();
  connection.disconnect();
  return rate;
}

async function bullHops(url: string, count: number): Promise<number[]> {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const queue = new Queue("bench-hop", { connection });
  let arrived: (at: number) => void = () => undefined;
  const worker = new Worker("bench-hop", () => Promise.resolve(arrived(performance.now())), { connection });
  await worker.waitUntilReady();
  const hops: number[] = [];
  for (let i = 0; i < count; i++) {
    const at = performance.now();
    const arrival = new Promise<number>((resolve) => (arrived = resolve));
    await queue.add("j", {}, QUIET);
    hops.push((await arrival) - at);
  }
  await worker.close();
  await queue.obliterate({ force: true });
  await queue.close();
  connection.disconnect();
  return hops;
}

async function flowChain(url: string, length: number): Promise<number> {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const flows = new FlowProducer({ connection });
  let finish: () => void = () => undefined;
  const last = new Promise<void>((resolve) => (finish = resolve));
  const worker = new Worker(
    "bench-flow",
    (job) => (job.name === "t0" ? Promise.resolve(finish()) : Promise.resolve()),
    { connection, concurrency: 10 },
  );
  await worker.waitUntilReady();
  let chain: FlowJob = { name: `t${length - 1}`, queueName: "bench-flow" };
  for (let i = length - 2; i >= 0; i--) chain = { name: `t${i}`, queueName: "bench-flow", children: [chain] };
  const started = performance.now();
  await flows.add(chain);
  await last;
  const ms = performance.now() - started;
  await worker.close();
  await flows.close();
  connection.disconnect();
  return ms;
}
