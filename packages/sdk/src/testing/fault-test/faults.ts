// What happens to a fault test from outside, drawn from the seed: processes crash and come back, freeze for longer than a
// lease; somebody stops or restarts what runs.
import { Process, type Strand } from "./fibers.ts";
import { allow, HEALED, SETTINGS, type Stage } from "./stage.ts";

/** Who there is to be hit, and how another of its kind takes its place. */
export interface Cast {
  readonly schedulers: readonly Process[];
  readonly workers: readonly Process[];
  startScheduler(place: number): void;
  startWorker(place: number): void;
}

export function planFaults(stage: Stage, cast: Cast): void {
  const { agenda, random } = stage;
  const faults = 1 + random.integer(5);
  for (let i = 0; i < faults; i++) agenda.at(random.integer(HEALED), () => strike(stage, cast));
}

function strike(stage: Stage, cast: Cast): void {
  const { agenda, driver, random, trace } = stage;
  const place = random.integer(2);
  const isScheduler = random.chance(0.5);
  const target = (isScheduler ? cast.schedulers : cast.workers)[place];
  const kind = random.integer(4);
  if (kind === 3) return driver.start(new Process("user"), interfere(stage));
  if (target === undefined || !target.isAlive) return;
  if (kind === 0) {
    const ms = 1_000 + random.integer(2 * SETTINGS.lease * 1000);
    trace?.push(`${agenda.now} ${target.name} freezes for ${ms}`);
    return driver.freeze(target, ms);
  }
  trace?.push(`${agenda.now} ${target.name} crashes`);
  driver.crash(target);
  const again = () => (isScheduler ? cast.startScheduler(place) : cast.startWorker(place));
  agenda.after(500 + random.integer(8_000), again);
}

/** Somebody stops or restarts what runs, in a run that goes on: what has ended is opened again by a clear, which is not played. */
function* interfere({ deps, driver, random, store }: Stage): Strand {
  const running = [...store.occupying].filter((row) => row.committed.state === "running");
  if (running.length === 0) return;
  const row = random.pick(running);
  const to = random.chance(0.5) ? "restarting" : "shutdown";
  const mark = to === "restarting" ? undefined : random.pick(["success", "failed"] as const);
  const stop = { id: row.committed.id, to, mark, reason: "asked" } as const;
  try {
    yield* driver.transaction("user", function* (tx) {
      const open = yield* deps.s.lockRuns(tx, [row.run]);
      if (open.length > 0) yield* deps.s.stopAttempts(tx, [stop]);
    });
  } catch (error) {
    allow(error);
  }
}
