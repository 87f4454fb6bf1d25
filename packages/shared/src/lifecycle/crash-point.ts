// Named places between two steps of which a crash could undo the one or lose the other. Nothing happens there unless a
// test armed this process, by a variable that only tests give: then whoever first reaches the place that the test named
// stops where it is, and the test kills it, lets it sleep, or breaks its connection before it goes on.
import { readFileSync, renameSync } from "node:fs";

export const CRASH_POINTS = [
  /** Runs that were due are committed; the loop has not looked at them. */
  "scheduler.created",
  /** In the pass's transaction, after the critical section's lock and before what is queued is written. */
  "scheduler.locked",
  /** Attempts are committed as queued; their messages are not sent. */
  "scheduler.queued",
  /** Their messages are sent; nothing says so. */
  "scheduler.sent",
  /** Lost attempts are read and locked; nothing is written of them. */
  "scheduler.lost",
  /** A message is taken; its attempt is not claimed. */
  "worker.taken",
  /** The attempt is claimed; its handler has not started. */
  "worker.claimed",
  /** The handler has ended; nothing of it is written. */
  "worker.handled",
  /** Its end is written; whoever waits for the answer does not know. */
  "worker.finished",
  /** A callback has run; nothing says so. */
  "worker.called-back",
  /** Events have come; nothing of them is written. */
  "triggerer.firing",
  /** Events are written and their tasks moved on; nobody is woken. */
  "triggerer.fired",
  /** A run was created or tasks were cleared, on request; the answer is not given and nobody is woken. */
  "api.triggered",
  "api.cleared",
] as const;

export type CrashPoint = (typeof CRASH_POINTS)[number];

let armed: string | undefined;

/** @param file holds the name of the place to stop at; whoever stops renames it to `<file>.<pid>`, so that it is the only one */
export function armCrashPoints(file: string | undefined): void {
  armed = file;
}

export function crashPoint(name: CrashPoint): void {
  if (armed !== undefined) stopAt(armed, name);
}

function stopAt(file: string, name: CrashPoint): void {
  try {
    if (readFileSync(file, "utf8") !== name) return;
    renameSync(file, `${file}.${process.pid}`);
  } catch {
    // No place is named now, or another process was first.
    return;
  }
  process.kill(process.pid, "SIGSTOP");
}
