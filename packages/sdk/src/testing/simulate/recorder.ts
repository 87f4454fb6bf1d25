// Writes down what a simulation shows that the rows do not keep: every try, how much ran at once, and why things waited.
import type { Refusal, TaskState } from "@millrace/shared/model";
import type { RunRow, TaskRow, TaskVersion } from "../engine/rows.ts";
import type { Watch } from "../engine/store.ts";

export interface RecordedTry {
  readonly tryNumber: number;
  readonly state: TaskState;
  readonly startDate: number;
  readonly endDate: number;
  readonly reason: string | undefined;
}

/** A time that a task instance waited without a worker. */
export interface RecordedSpan {
  readonly state: "deferred" | "up_for_reschedule";
  readonly startDate: number;
  endDate: number | undefined;
}

export type WaitReason = Refusal["limit"] | "worker_slots" | "delayed_start" | "max_active_runs" | "nothing_can_begin";

export class Recorder implements Watch {
  readonly #spans: RecordedSpan[][] = [];
  /** By the row_id of the task instance. */
  readonly #tries: RecordedTry[][] = [];
  /** Seconds waited, all task instances or runs together. */
  readonly waits = new Map<WaitReason, number>();
  readonly #now: () => number;
  readonly #refusals = new Map<TaskRow, WaitReason>();
  readonly #blocked = new Set<RunRow>();
  running = 0;
  peak = { tasks: 0, at: 0 };
  #slotWaits = new Map<number, WaitReason>();

  constructor(now: () => number) {
    this.#now = now;
  }

  triesOf(row: TaskRow): readonly RecordedTry[] {
    return this.#tries[row.rowId] ?? [];
  }

  spansOf(row: TaskRow): readonly RecordedSpan[] {
    return this.#spans[row.rowId] ?? [];
  }

  taskWritten(row: TaskRow, before: TaskVersion, after: TaskVersion): void {
    if (before.state === after.state) return;
    const now = this.#now();
    if (after.state === "running") {
      if (++this.running > this.peak.tasks) this.peak = { tasks: this.running, at: now };
      const waited = now - (before.queuedAt ?? now);
      if (waited > 0) this.#add(this.#slotWaits.get(before.id) ?? "delayed_start", waited);
      this.#slotWaits.delete(before.id);
    } else if (after.state === "queued") {
      const waited = now - (before.scheduledAt ?? now);
      const why = this.#refusals.get(row);
      if (waited > 0 && why !== undefined) this.#add(why, waited);
      this.#refusals.delete(row);
    }
    if (isWait(before.state)) this.#endSpan(row, now);
    if (isWait(after.state)) this.#beginSpan(row, after.state, now);
    const wasHeld = isHeld(before.state);
    if (wasHeld && !isHeld(after.state)) this.running--;
    // A try goes on over its waits.
    if ((!wasHeld && !isWait(before.state)) || isHeld(after.state) || goesOn(after.state)) return;
    const state = after.state === "up_for_retry" || after.state === "none" ? "failed" : after.state;
    const one = {
      tryNumber: before.tryNumber,
      state,
      startDate: before.startDate ?? now,
      endDate: now,
      reason: after.reason ?? before.reason,
    };
    const earlier = this.#tries[row.rowId];
    if (earlier === undefined) this.#tries[row.rowId] = [one];
    else earlier.push(one);
  }

  #beginSpan(row: TaskRow, state: RecordedSpan["state"], now: number): void {
    const span = { state, startDate: now, endDate: undefined };
    const earlier = this.#spans[row.rowId];
    if (earlier === undefined) this.#spans[row.rowId] = [span];
    else earlier.push(span);
  }

  #endSpan(row: TaskRow, now: number): void {
    const span = this.#spans[row.rowId]?.at(-1);
    if (span !== undefined) span.endDate = now;
  }

  committed(_owner: string, runs: readonly RunRow[]): void {
    const now = this.#now();
    for (const run of runs) {
      const { state, startDate } = run.committed;
      if (state !== "running" || startDate !== now) continue;
      const waited = now - run.runAfter;
      if (waited > 0) this.#add(this.#blocked.delete(run) ? "nothing_can_begin" : "max_active_runs", waited);
    }
  }

  refused(row: TaskRow, { limit }: Refusal): void {
    this.#refusals.set(row, limit);
  }

  blocked(run: RunRow): void {
    this.#blocked.add(run);
  }

  waitsForSlot(id: number): void {
    this.#slotWaits.set(id, "worker_slots");
  }

  #add(reason: WaitReason, ms: number): void {
    this.waits.set(reason, (this.waits.get(reason) ?? 0) + ms / 1000);
  }
}

const isHeld = (state: TaskState): boolean => state === "running" || state === "restarting" || state === "shutdown";
const isWait = (state: TaskState): state is RecordedSpan["state"] =>
  state === "deferred" || state === "up_for_reschedule";
const goesOn = (state: TaskState): boolean => isWait(state) || state === "scheduled" || state === "queued";
