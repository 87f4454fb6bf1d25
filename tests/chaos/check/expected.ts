// What must be true of the load, written down by itself: nothing here comes from the engine. Kept beside dags/load.ts by
// hand, as the states and the changes between them are kept beside the specification.

type Rule = "all_success" | "all_done" | "none_failed_min_one_success";

export interface ExpectedTask {
  readonly upstream?: readonly string[];
  readonly rule?: Rule;
  readonly retries: number;
  readonly pool?: string;
  readonly slots?: number;
  readonly maxActivePerDag?: number;
  readonly callbacks?: readonly ("onSuccess" | "onFailure" | "onRetry")[];
  /** Its value is the key of the try that won. */
  readonly givesKey?: boolean;
  /** It waits without a worker. One that loses its worker after the wait goes on from there, in another try. */
  readonly waits?: boolean;
  /** It throws in each of its tries. */
  readonly alwaysThrows?: boolean;
  /** It has no handler that could say anything: it asks people. */
  readonly asks?: boolean;
}

export interface ExpectedDag {
  readonly maxActiveRuns: number;
  readonly maxActiveTasks: number;
  readonly tasks: Readonly<Record<string, ExpectedTask>>;
}

const plain: ExpectedTask = { retries: 2, givesKey: true };
const narrow: ExpectedTask = { ...plain, pool: "narrow" };

export const DAGS: Readonly<Record<string, ExpectedDag>> = {
  chaos_chain: {
    maxActiveRuns: 6,
    maxActiveTasks: 16,
    tasks: {
      first: plain,
      slow: { ...plain, upstream: ["first"] },
      last: { ...plain, upstream: ["slow"], callbacks: ["onSuccess"] },
    },
  },
  chaos_flaky: {
    maxActiveRuns: 4,
    maxActiveTasks: 16,
    tasks: {
      recovers: { ...plain, callbacks: ["onRetry", "onFailure", "onSuccess"] },
      doomed: { retries: 1, upstream: ["recovers"], alwaysThrows: true, callbacks: ["onRetry", "onFailure"] },
      blocked: { ...plain, upstream: ["doomed"] },
      cleanup: { ...plain, upstream: ["doomed"], rule: "all_done" },
    },
  },
  chaos_once: {
    maxActiveRuns: 4,
    maxActiveTasks: 16,
    tasks: { once: { retries: 0, givesKey: true, callbacks: ["onFailure"] } },
  },
  chaos_branch: {
    maxActiveRuns: 4,
    maxActiveTasks: 16,
    tasks: {
      choose: { retries: 2 },
      left: { ...plain, upstream: ["choose"] },
      right: { ...plain, upstream: ["choose"] },
      join: { ...plain, upstream: ["left", "right"], rule: "none_failed_min_one_success" },
    },
  },
  chaos_wide: {
    maxActiveRuns: 2,
    maxActiveTasks: 4,
    tasks: {
      narrow_a: narrow,
      narrow_b: narrow,
      narrow_c: narrow,
      heavy: { ...narrow, slots: 2 },
      alone: { ...plain, pool: "single" },
      rare: { ...plain, maxActivePerDag: 1 },
    },
  },
  chaos_waits: {
    maxActiveRuns: 6,
    maxActiveTasks: 16,
    tasks: { waited: { ...plain, waits: true }, after_wait: { ...plain, upstream: ["waited"] } },
  },
  chaos_maps: {
    maxActiveRuns: 2,
    maxActiveTasks: 6,
    tasks: {
      list: { retries: 2 },
      each: { ...plain, upstream: ["list"] },
      total: { retries: 2, upstream: ["each"] },
    },
  },
  chaos_makes: { maxActiveRuns: 4, maxActiveTasks: 16, tasks: { make: plain } },
  chaos_uses: { maxActiveRuns: 3, maxActiveTasks: 16, tasks: { use: plain } },
  chaos_asks: {
    maxActiveRuns: 4,
    maxActiveTasks: 16,
    tasks: { asked: { retries: 2, asks: true }, told: { retries: 2, upstream: ["asked"] } },
  },
  chaos_rude: { maxActiveRuns: 2, maxActiveTasks: 16, tasks: { blocks: plain, hogs: plain, murders: plain } },
  chaos_edited: {
    maxActiveRuns: 4,
    maxActiveTasks: 16,
    tasks: {
      begin: plain,
      go_on: { ...plain, upstream: ["begin"] },
      // In some versions of its file.
      extra: { ...plain, upstream: ["begin"] },
    },
  },
  chaos_paced: { maxActiveRuns: 4, maxActiveTasks: 16, tasks: { paced: plain } },
  chaos_spring: { maxActiveRuns: 1, maxActiveTasks: 16, tasks: { nightly: plain } },
  chaos_autumn: { maxActiveRuns: 1, maxActiveTasks: 16, tasks: { nightly: plain } },
  chaos_ticking: { maxActiveRuns: 3, maxActiveTasks: 16, tasks: { tick: plain } },
};

/**
 * 02:30 in Berlin, each day: in the night of 30 March 2025 it did not exist and counts an hour later, in that of 26 October
 * it was there twice and the first counts. Begins of intervals, in UTC.
 */
export const CLOCK_CHANGES: Readonly<Record<string, readonly string[]>> = {
  chaos_spring: ["2025-03-28T01:30", "2025-03-29T01:30", "2025-03-30T01:30", "2025-03-31T00:30", "2025-04-01T00:30"],
  chaos_autumn: ["2025-10-24T00:30", "2025-10-25T00:30", "2025-10-26T00:30", "2025-10-27T01:30", "2025-10-28T01:30"],
};

export const POOLS: Readonly<Record<string, number>> = { default_pool: 128, narrow: 3, single: 1 };
export const TICK_SECONDS = 2;

export const FINAL = new Set(["success", "failed", "skipped", "upstream_failed", "removed"]);
export const OCCUPYING = new Set(["queued", "running", "restarting", "shutdown"]);

const BY_ENGINE: Readonly<Record<string, readonly string[]>> = {
  none: ["removed", "scheduled", "skipped", "upstream_failed", "success", "deferred"],
  scheduled: ["queued"],
  queued: ["running", "failed"],
  running: ["success", "failed", "skipped", "up_for_retry", "up_for_reschedule", "deferred"],
  up_for_retry: ["scheduled", "skipped", "upstream_failed"],
  up_for_reschedule: ["scheduled", "skipped", "upstream_failed"],
  deferred: ["scheduled", "up_for_retry", "failed"],
  restarting: ["none"],
  shutdown: ["failed", "success", "skipped"],
};

/** Whether the engine by itself, or a person, may make this change. */
export function isLegal(from: string, to: string, byPerson: boolean): boolean {
  if (BY_ENGINE[from]?.includes(to) === true) return true;
  const isHeld = from === "running" || from === "restarting" || from === "shutdown";
  if (!byPerson) return false;
  if (isHeld) return (to === "restarting" || to === "shutdown") && from !== to;
  return ["none", "success", "failed", "skipped"].includes(to) && from !== to;
}
