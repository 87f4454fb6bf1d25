// The fault suite: `npm run test:chaos -- [--seed S | --seeds A,B,…] [--minutes N] [--points] [--speed] [--all]`. Without a
// seed six fixed ones; `--points`, alone or beside seeds, goes through the crash points, `--speed` measures what is promised
// of times (`--redis-away SECONDS`, 30 by default), `--all` is all of it. `--at-once K` plays so many beside each other,
// `--keep FOLDER` says where what fails is kept. Each seed is one test, and so is each crash point with each action, and
// each time. Ends with the line `chaos: P passed, F failed`.
import { existsSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Monkey } from "./monkey/monkey.ts";
import { planFaults } from "./monkey/plan.ts";
import { Fleet } from "./rig/fleet.ts";
import { runPoints, type PointOutcome } from "./points/run-points.ts";
import { runSpeed } from "./speed/run-speed.ts";
import { CHECKS, runTrial, type Outcome, type Trial } from "./trial.ts";

const SEEDS = [1, 2, 3, 5, 8, 13];
/** Times are promised for a machine that has time. One that others use decides by this much; the figure is told anyway. */
const BUSY = 3;
const cores = availableParallelism();

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    minutes: { type: "string", default: "1" },
    points: { type: "boolean", default: false },
    speed: { type: "boolean", default: false },
    "redis-away": { type: "string", default: "30" },
    all: { type: "boolean", default: false },
    "at-once": { type: "string", default: "1" },
    keep: { type: "string", default: join(tmpdir(), "millrace-chaos-failures") },
  },
});
const seeds =
  values.seed !== undefined
    ? [Number(values.seed)]
    : values.seeds !== undefined
      ? values.seeds.split(",").map(Number)
      : (values.points || values.speed) && !values.all
        ? []
        : SEEDS;
const minutes = Number(values.minutes);
const redisAway = Number(values["redis-away"]);
if (![...seeds, minutes, redisAway].every(Number.isFinite)) {
  console.error("--seed, --seeds, --minutes and --redis-away take numbers");
  process.exit(2);
}

const seedTrial = (seed: number): Trial => ({
  name: `seed-${seed}`,
  seed,
  inflict: async (fleet) => {
    const durationMs = minutes * 60_000;
    const plan = planFaults(seed, durationMs);
    const monkey = new Monkey(fleet);
    await monkey.play(plan, durationMs);
    return { faults: monkey.done, count: monkey.done.filter((done) => !done.note.startsWith("not done")).length, plan };
  },
});

const reached: PointOutcome[] = [];
const pointsTrial: Trial = {
  name: "crash-points",
  seed: 4,
  fleet: { crashPoints: true },
  inflict: async (fleet, load) => {
    reached.push(...(await runPoints(fleet, load, join(fleet.dir, "crash-point"))));
    const missed = reached.filter((one) => one.member === undefined);
    return {
      faults: reached.map(({ member = "", from, to }) => ({
        fault: { kind: "freeze", member, ms: to - from },
        from,
        to,
        note: "",
      })),
      count: reached.length - missed.length,
      plan: reached,
      broken: missed.map(({ point, action }) => ({ invariant: `${point}, ${action}`, by: ["nobody came by"] })),
    };
  },
};

// What is frozen cannot see that its parent is gone.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void Fleet.stopAll().finally(() => process.exit(1)));
}

let passed = 0;
let failed = 0;
const waiting: Trial[] = [...(values.points || values.all ? [pointsTrial] : []), ...seeds.map(seedTrial)];
if (values.speed || values.all) {
  await runSpeed(({ what, seconds, atMost, detail }) => {
    const isKept = seconds !== undefined && seconds <= atMost * BUSY;
    if (isKept) passed++;
    else failed++;
    const measured = seconds === undefined ? "not measured" : `${seconds.toFixed(1)} s`;
    const missed =
      isKept && seconds > atMost
        ? `, MISSED and forgiven at a load of ${loadavg()[0]?.toFixed(0)} on ${cores} cores`
        : "";
    console.log(`${isKept ? "ok    " : "FAILED"} ${what}: ${measured}, at most ${atMost} s${missed} (${detail})`);
  }, redisAway);
}
const lane = async () => {
  for (let trial = waiting.shift(); trial !== undefined; trial = waiting.shift()) {
    const begun = performance.now();
    const outcome = await runTrial(trial, values.keep).catch((error: unknown): Outcome => ({
      name: trial?.name ?? "",
      broken: [{ invariant: "the suite itself works", by: [(error as Error).stack ?? String(error)] }],
      figures: undefined,
    }));
    report(outcome, (performance.now() - begun) / 1_000);
    if (outcome.broken.length > 0) failed++;
    else passed += trial === pointsTrial ? reached.length : 1;
  }
};
await Promise.all(Array.from({ length: Number(values["at-once"]) }, lane));
console.log(`chaos: ${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function report({ name, broken, figures }: Outcome, seconds: number): void {
  const said =
    figures === undefined
      ? ""
      : `: ${figures.faults} faults, ${figures.runs} runs, ${figures.attempts} claims, ${figures.losses} losses, ` +
        `${figures.callbacks} callbacks, ${figures.mapped} mapped tasks, ${figures.events} events, ${figures.answers} answers, at rest after ${figures.quiesceSeconds} s, machine late by ${figures.lateSeconds} s; ` +
        `${CHECKS - broken.length} of ${CHECKS} invariants hold`;
  console.log(`${broken.length === 0 ? "ok    " : "FAILED"} ${name} (${seconds.toFixed(0)} s)${said}`);
  for (const { invariant, by } of broken) {
    console.log(`  broken: ${invariant}, ${by.length} times`);
    for (const what of by.slice(0, 8)) console.log(`    ${what}`);
  }
  const kept = join(values.keep, name);
  if (broken.length > 0) console.log(existsSync(kept) ? `  kept in ${kept}` : "  nothing is kept: it did not begin");
}
