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
      used.add(candidate, 1, candidate.poolSlots);
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
  const limits = snapshot.limitsOf(candidate);
  return CHECKS.map((check) => check(candidate, limits, pools, used, snapshot.parallelism)).filter(
    (refusal) => refusal !== undefined,
  );
}

function refusalOf<C extends Candidate>(
  c: C,
  snapshot: AdmissionSnapshot<C>,
  pools: ReadonlyMap<string, PoolLimits>,
  used: Ledger,
): Refusal | undefined {
  const limits = snapshot.limitsOf(c);
  for (const check of CHECKS) {
    const refusal = check(c, limits, pools, used, snapshot.parallelism);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

type Check = (
  c: Candidate,
  limits: TaskLimits,
  pools: ReadonlyMap<string, PoolLimits>,
  used: Ledger,
  parallelism: number,
) => Refusal | undefined;

const CHECKS: readonly Check[] = [
  (_c, _limits, _pools, used, of) => (used.total < of ? undefined : { limit: "parallelism", of }),
  (c, _limits, pools, used) => {
    const pool = pools.get(c.pool);
    if (pool === undefined) return { limit: "pool_missing", pool: c.pool };
    const usedSlots = used.of("pool", c);
    return pool.slots < 0 || usedSlots + c.poolSlots <= pool.slots
      ? undefined
      : { limit: "pool", pool: c.pool, of: pool.slots, used: usedSlots, needs: c.poolSlots };
  },
  (c, { maxActiveTasks: of }, _pools, used) =>
    used.of("dag", c) < of ? undefined : { limit: "max_active_tasks", dagId: c.dagId, of },
  (c, { maxActiveTisPerDag: of = Infinity }, _pools, used) =>
    of === Infinity || used.of("task", c) < of ? undefined : { limit: "max_active_tis_per_dag", taskId: c.taskId, of },
  (c, { maxActiveTisPerDagrun: of = Infinity }, _pools, used) =>
    of === Infinity || used.of("run", c) < of
      ? undefined
      : { limit: "max_active_tis_per_dagrun", taskId: c.taskId, of },
];

/** What a limit counts by. */
const KEYS = {
  pool: (of: Occupant) => of.pool,
  dag: (of: Occupant) => of.dagId,
  task: (of: Occupant) => `${of.dagId}\n${of.taskId}`,
  run: (of: Occupant) => `${of.dagRunId}\n${of.taskId}`,
} as const;
type Kind = keyof typeof KEYS;
type Occupant = Pick<Occupancy, "pool" | "dagId" | "taskId" | "dagRunId">;

interface Taken {
  readonly by: Occupant;
  readonly count: number;
  readonly slots: number;
}

/** Sums of what is occupied, by the keys that limits ask for; most ask for two of the four. Lives for one decision. */
class Ledger {
  total = 0;
  readonly #taken: Taken[] = [];
  readonly #sums: { [K in Kind]?: Map<string, number> } = {};

  constructor(occupancy: readonly Occupancy[]) {
    for (const entry of occupancy) this.add(entry, entry.count, entry.slots);
  }

  of(kind: Kind, occupant: Occupant): number {
    return (this.#sums[kind] ?? this.#sum(kind)).get(KEYS[kind](occupant)) ?? 0;
  }

  add(by: Occupant, count: number, slots: number): void {
    this.total += count;
    const taken = { by, count, slots };
    this.#taken.push(taken);
    for (const kind of ["pool", "dag", "task", "run"] as const) {
      const sums = this.#sums[kind];
      if (sums !== undefined) plus(sums, kind, taken);
    }
  }

  #sum(kind: Kind): Map<string, number> {
    const sums = new Map<string, number>();
    for (const taken of this.#taken) plus(sums, kind, taken);
    this.#sums[kind] = sums;
    return sums;
  }
}

function plus(sums: Map<string, number>, kind: Kind, { by, count, slots }: Taken): void {
  const key = KEYS[kind](by);
  sums.set(key, (sums.get(key) ?? 0) + (kind === "pool" ? slots : count));
}
