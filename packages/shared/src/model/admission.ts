// The critical section's decision: which scheduled task instances may be queued now. Pure; given the heads of each
// lane and what occupies slots, it never exceeds a limit and never lets blocked work stand in front of work that can go.

export interface PoolLimits {
  readonly pool: string;
  /** -1: no limit. */
  readonly slots: number;
}

/** Attempts that occupy slots, summed by (pool, dag, task, run). */
export interface Occupancy {
  readonly pool: string;
  readonly dagId: string;
  readonly taskId: string;
  readonly dagRunId: number;
  readonly count: number;
  readonly slots: number;
}

export interface Candidate {
  readonly id: string;
  readonly epoch: number;
  readonly dagId: string;
  readonly taskId: string;
  readonly dagRunId: number;
  readonly mapIndex: number;
  readonly pool: string;
  readonly poolSlots: number;
  readonly queue: string;
  readonly priorityWeight: number;
  /** Milliseconds since the epoch; null sorts last. */
  readonly logicalDate: number | null;
  readonly runAfter: number;
}

export interface TaskLimits {
  readonly maxActiveTasks: number;
  readonly maxActiveTisPerDag?: number | undefined;
  readonly maxActiveTisPerDagrun?: number | undefined;
}

export interface AdmissionSnapshot<C extends Candidate = Candidate> {
  readonly parallelism: number;
  readonly pools: readonly PoolLimits[];
  readonly occupancy: readonly Occupancy[];
  readonly candidates: readonly C[];
  readonly limitsOf: (candidate: C) => TaskLimits;
}

/** Why a candidate stays scheduled. */
export type Refusal =
  | { readonly limit: "parallelism"; readonly of: number }
  | { readonly limit: "pool_missing"; readonly pool: string }
  | {
      readonly limit: "pool";
      readonly pool: string;
      readonly of: number;
      readonly used: number;
      readonly needs: number;
    }
  | { readonly limit: "max_active_tasks"; readonly dagId: string; readonly of: number }
  | { readonly limit: "max_active_tis_per_dag"; readonly taskId: string; readonly of: number }
  | { readonly limit: "max_active_tis_per_dagrun"; readonly taskId: string; readonly of: number };

export interface Admission<C extends Candidate = Candidate> {
  readonly admitted: readonly C[];
  readonly refused: readonly { readonly candidate: C; readonly refusal: Refusal }[];
}

/** Priority first, then the older logical date (none last), then the older run, then the lower index. */
export function compareCandidates(a: Candidate, b: Candidate): number {
  return (
    b.priorityWeight - a.priorityWeight ||
    (a.logicalDate ?? Infinity) - (b.logicalDate ?? Infinity) ||
    a.runAfter - b.runAfter ||
    a.mapIndex - b.mapIndex ||
    (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
  );
}

export function admit<C extends Candidate>(snapshot: AdmissionSnapshot<C>): Admission<C> {
  const used = new Ledger(snapshot.occupancy);
  const pools = new Map(snapshot.pools.map((pool) => [pool.pool, pool]));
  const admitted: C[] = [];
  const refused: { candidate: C; refusal: Refusal }[] = [];
  for (const candidate of [...snapshot.candidates].sort(compareCandidates)) {
    const refusal = refusalOf(candidate, snapshot, pools, used);
    if (refusal === undefined) {
      used.add({ ...candidate, count: 1, slots: candidate.poolSlots });
      admitted.push(candidate);
    } else {
      refused.push({ candidate, refusal });
    }
  }
  return { admitted, refused };
}

/** Every limit that keeps a scheduled task instance from being queued now, whatever else is scheduled. */
export function refusalsOf<C extends Candidate>(
  candidate: C,
  snapshot: Omit<AdmissionSnapshot<C>, "candidates">,
): readonly Refusal[] {
  const pools = new Map(snapshot.pools.map((pool) => [pool.pool, pool]));
  const used = new Ledger(snapshot.occupancy);
  const limits = { ...snapshot.limitsOf(candidate), parallelism: snapshot.parallelism };
  return CHECKS.map((check) => check(candidate, limits, pools, used)).filter((refusal) => refusal !== undefined);
}

function refusalOf<C extends Candidate>(
  c: C,
  snapshot: AdmissionSnapshot<C>,
  pools: ReadonlyMap<string, PoolLimits>,
  used: Ledger,
): Refusal | undefined {
  const limits = { ...snapshot.limitsOf(c), parallelism: snapshot.parallelism };
  for (const check of CHECKS) {
    const refusal = check(c, limits, pools, used);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

type Check = (
  c: Candidate,
  limits: TaskLimits & { readonly parallelism: number },
  pools: ReadonlyMap<string, PoolLimits>,
  used: Ledger,
) => Refusal | undefined;

const CHECKS: readonly Check[] = [
  (_c, { parallelism: of }, _pools, used) => (used.total < of ? undefined : { limit: "parallelism", of }),
  (c, _limits, pools, used) => {
    const pool = pools.get(c.pool);
    if (pool === undefined) return { limit: "pool_missing", pool: c.pool };
    const usedSlots = used.of("pool", c.pool);
    return pool.slots < 0 || usedSlots + c.poolSlots <= pool.slots
      ? undefined
      : { limit: "pool", pool: c.pool, of: pool.slots, used: usedSlots, needs: c.poolSlots };
  },
  (c, { maxActiveTasks: of }, _pools, used) =>
    used.of("dag", c.dagId) < of ? undefined : { limit: "max_active_tasks", dagId: c.dagId, of },
  (c, { maxActiveTisPerDag: of = Infinity }, _pools, used) =>
    used.of("task", `${c.dagId}\n${c.taskId}`) < of
      ? undefined
      : { limit: "max_active_tis_per_dag", taskId: c.taskId, of },
  (c, { maxActiveTisPerDagrun: of = Infinity }, _pools, used) =>
    used.of("run", `${c.dagRunId}\n${c.taskId}`) < of
      ? undefined
      : { limit: "max_active_tis_per_dagrun", taskId: c.taskId, of },
];

/** Sums of what is occupied, by every key that a limit asks for. Lives for one decision. */
class Ledger {
  total = 0;
  readonly #sums = new Map<string, number>();

  constructor(occupancy: readonly Occupancy[]) {
    for (const entry of occupancy) this.add(entry);
  }

  of(kind: "pool" | "dag" | "task" | "run", key: string): number {
    return this.#sums.get(`${kind}\n${key}`) ?? 0;
  }

  add(entry: Omit<Occupancy, "pool"> & { readonly pool: string }): void {
    this.total += entry.count;
    const plus = (key: string, by: number) => this.#sums.set(key, (this.#sums.get(key) ?? 0) + by);
    plus(`pool\n${entry.pool}`, entry.slots);
    plus(`dag\n${entry.dagId}`, entry.count);
    plus(`task\n${entry.dagId}\n${entry.taskId}`, entry.count);
    plus(`run\n${entry.dagRunId}\n${entry.taskId}`, entry.count);
  }
}
