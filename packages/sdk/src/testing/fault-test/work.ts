// A worker of a fault test: it claims what a message names, runs it for a while, says meanwhile that it lives, and writes
// the end until the server has answered.
import { hasTryLeft } from "@millrace/shared/model";
import type { TaskRow } from "../engine/rows.ts";
import { TRAVEL } from "../engine/steps.ts";
import type { AttemptKey } from "../engine/task-statements.ts";
import type { Strand, StrandOf } from "./fibers.ts";
import type { Network } from "./network.ts";
import { allow, HEARTBEAT, PAUSE, type Held, type Stage, type Worker } from "./stage.ts";

/** How long a handler goes on after it was told to stop, at most. */
const GLANCE = 1_000;

export function* beat({ deps, driver }: Stage, worker: Worker): Strand {
  for (;;) {
    yield HEARTBEAT;
    if (worker.held.size === 0) continue;
    const asked = [...worker.held];
    const ids = asked.map(([id]) => id);
    try {
      const living = yield* driver.transaction(worker.name, (tx) => deps.s.heartbeatAttempts(tx, ids, worker.job));
      for (const [id, held] of asked) {
        const mine = living.find((version) => version.id === id);
        if (mine === undefined) held.fate = "lost";
        else if (mine.state !== "running") held.fate = "asked";
        else if (mine.epoch !== held.epoch) held.fate = "lost";
      }
    } catch (error) {
      allow(error);
    }
  }
}

export function* attempt(stage: Stage, network: Network, worker: Worker, message: AttemptKey, token: number): Strand {
  const { invariants, random } = stage;
  const row = yield* claim(stage, worker, message, token);
  if (row === undefined) return;
  const { id } = message;
  const held: Held = { epoch: message.epoch + 1, fate: "lives" };
  invariants.started(id, token);
  worker.held.set(id, held);
  const { tryNumber, maxTries } = row.committed;
  let left = random.integer(random.chance(0.2) ? 15_000 : 1_500);
  for (; left > 0 && held.fate === "lives"; left -= GLANCE) yield Math.min(left, GLANCE);
  const failed = random.chance(0.2);
  if (held.fate === "lives") {
    const again = failed && hasTryLeft({ tryNumber, maxTries, retryable: true });
    yield* finish(stage, worker, row, { id, epoch: held.epoch }, again ? "retry" : failed ? "failed" : "success");
  }
  if (held.fate !== "lost") yield* confirmStop(stage, worker, row, id);
  worker.held.delete(id);
  network.wake(row.run, row.taskId);
}

function* claim(
  { deps, driver, store }: Stage,
  worker: Worker,
  message: AttemptKey,
  token: number,
): StrandOf<TaskRow | undefined> {
  const { s } = deps;
  const row = store.attempts.get(message.id);
  const wanted = [{ id: message.id, epoch: message.epoch, token }];
  for (let isRepeat = false; ; isRepeat = true) {
    try {
      if (isRepeat && row !== undefined) {
        const made = yield* driver.transaction(worker.name, (tx) => s.readClaims(tx, [token], [row]));
        if (made.length > 0) return made[0];
      }
      const claimed = yield* driver.transaction(worker.name, (tx) => s.claimAttempts(tx, wanted, worker.job));
      return claimed[0];
    } catch (error) {
      allow(error);
      yield PAUSE;
    }
  }
}

/** Until the server has answered: a repeat of what was written matches no row any more. */
function* finish(
  { deps, driver }: Stage,
  worker: Worker,
  row: TaskRow,
  { id, epoch }: AttemptKey,
  as: "success" | "failed" | "retry",
): Strand {
  const { s } = deps;
  for (;;) {
    try {
      if (as === "retry") {
        const delaySeconds = row.node.spec.retryDelay;
        const retry = { id, epoch, delaySeconds, free: false, infra: false, reason: "failed" };
        yield* driver.transaction(worker.name, (tx) => s.retryAttempts(tx, [retry]));
      } else {
        const end = { id, epoch, state: as, branchDecision: null, reason: as === "failed" ? "failed" : undefined };
        yield* driver.transaction(worker.name, (tx) => s.finishAttempts(tx, [end]));
      }
      return;
    } catch (error) {
      allow(error);
      yield PAUSE;
    }
  }
}

function* confirmStop({ deps, driver }: Stage, worker: Worker, row: TaskRow, id: number): Strand {
  for (;;) {
    try {
      yield TRAVEL;
      const standing = row.committed;
      if (standing.id !== id || (standing.state !== "restarting" && standing.state !== "shutdown")) return;
      const { epoch } = standing;
      const done = yield* driver.transaction(worker.name, (tx) => deps.s.confirmStopped(tx, [{ id, epoch }]));
      if (done.length > 0) return;
    } catch (error) {
      allow(error);
      yield PAUSE;
    }
  }
}
