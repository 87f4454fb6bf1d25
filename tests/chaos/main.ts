// The fault suite: `npm run test:chaos -- --help` says what can be asked for. Ends with the line
// `chaos: P passed, F failed`.
import { existsSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { readArguments, USAGE, WrongFlagError } from "./arguments.ts";
import { Monkey } from "./monkey/monkey.ts";
import { planFaults } from "./monkey/plan.ts";
import { checkOut } from "./rig/checkout.ts";
import { Fleet, ROOT } from "./rig/fleet.ts";
import { runPoints, type PointOutcome } from "./points/run-points.ts";
import { runSpeed } from "./speed/run-speed.ts";
import { CHECKS, QUIESCE_SECONDS, runTrial, type Outcome, type Trial } from "./trial.ts";

/** Times are promised for a machine that has time. One that others use decides by this much; the figure is told anyway. */
const BUSY = 3;
const loadNow = () => `${loadavg()[0]?.toFixed(0)} on ${availableParallelism()} cores`;

function ask() {
  try {
    const asked = readArguments(process.argv.slice(2));
    if (asked !== undefined) return asked;
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    if (!(error instanceof WrongFlagError)) throw error;
    console.error(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}
const asked = ask();

const other = asked.beside === undefined ? undefined : await checkOut(ROOT, asked.beside);
const fleetOptions = other === undefined ? {} : { beside: other.root };

const seedTrial = (seed: number): Trial => ({
  name: `seed-${seed}`,
  seed,
  fleet: fleetOptions,
  inflict: async (fleet) => {
    const durationMs = asked.minutes * 60_000;
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
  fleet: { ...fleetOptions, crashPoints: true },
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
const waiting: Trial[] = [...(asked.points ? [pointsTrial] : []), ...asked.seeds.map(seedTrial)];
if (asked.speed) {
  await runSpeed(({ what, seconds, atMost, detail }) => {
    const isKept = seconds !== undefined && seconds <= atMost * BUSY;
    if (isKept) passed++;
    else failed++;
    const measured = seconds === undefined ? "not measured" : `${seconds.toFixed(1)} s`;
    const missed = isKept && seconds > atMost ? `, MISSED and forgiven at a load of ${loadNow()}` : "";
    console.log(`${isKept ? "ok    " : "FAILED"} ${what}: ${measured}, at most ${atMost} s${missed} (${detail})`);
  }, asked.redisAwaySeconds);
}
const lane = async () => {
  for (let trial = waiting.shift(); trial !== undefined; trial = waiting.shift()) {
    const begun = performance.now();
    const outcome = await runTrial(trial, asked.keep).catch((error: unknown): Outcome => ({
      name: trial?.name ?? "",
      broken: [{ invariant: "the suite itself works", by: [(error as Error).stack ?? String(error)] }],
      figures: undefined,
    }));
    report(outcome, (performance.now() - begun) / 1_000);
    if (outcome.broken.length > 0) failed++;
    else passed += trial === pointsTrial ? reached.length : 1;
  }
};
await Promise.all(Array.from({ length: asked.atOnce }, lane));
await other?.remove();
console.log(`chaos: ${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function report({ name, broken, figures }: Outcome, seconds: number): void {
  const said =
    figures === undefined
      ? ""
      : `: ${figures.faults} faults, ${figures.runs} runs, ${figures.attempts} claims, ${figures.losses} losses, ` +
        `${figures.callbacks} callbacks, ${figures.mapped} mapped tasks, ${figures.events} events, ${figures.answers} answers, everybody back after ${figures.healSeconds} s and at rest ${figures.quiesceSeconds} s later, machine late by ${figures.lateSeconds} s; ` +
        `${CHECKS - broken.length} of ${CHECKS} invariants hold`;
  console.log(`${broken.length === 0 ? "ok    " : "FAILED"} ${name} (${seconds.toFixed(0)} s)${said}`);
  if (figures !== undefined && figures.quiesceSeconds > QUIESCE_SECONDS)
    console.log(
      `  MISSED and forgiven at a load of ${loadNow()}: at rest within ${QUIESCE_SECONDS} s; last was ${figures.last}`,
    );
  for (const { invariant, by } of broken) {
    console.log(`  broken: ${invariant}, ${by.length} times`);
    for (const what of by.slice(0, 8)) console.log(`    ${what}`);
  }
  const kept = join(asked.keep, name);
  if (broken.length > 0) console.log(existsSync(kept) ? `  kept in ${kept}` : "  nothing is kept: it did not begin");
}
