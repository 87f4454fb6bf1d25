// What an operator looks at: errors of DAG files, processes, pools.
import { AppError } from "../../errors/index.ts";
import { OCCUPYING_TASK_STATES } from "../../model/index.ts";
import { matchPattern, oneOf, orderBy } from "./filters.ts";
import { readPage, sql, type Page, type PageRequest, type Reader } from "./query.ts";

export interface ImportErrorRow {
  readonly id: number;
  readonly timestamp: Date;
  readonly filename: string;
  readonly bundleName: string;
  readonly stacktrace: string;
}

export interface ImportErrorFilter extends PageRequest {
  readonly filenamePattern?: string | undefined;
  readonly orderBy?: readonly string[] | undefined;
}

export async function listImportErrors(db: Reader, filter: ImportErrorFilter = {}): Promise<Page<ImportErrorRow>> {
  const query = sql.from({ e: "import_error" });
  matchPattern(query, "e.filename", filter.filenamePattern);
  const keys = {
    id: "e.id",
    import_error_id: "e.id",
    timestamp: "e.timestamp",
    filename: "e.filename",
    bundle_name: "e.bundle_name",
    stacktrace: "e.stacktrace",
  };
  return await readPage(db, query, { columns: "e.*", order: orderBy(keys, filter.orderBy ?? ["id"], "e.id") }, filter);
}

export interface JobRow {
  readonly id: number;
  readonly dagId: string | null;
  readonly state: string | null;
  readonly jobType: string;
  readonly startDate: Date | null;
  readonly endDate: Date | null;
  readonly latestHeartbeat: Date | null;
  readonly executorClass: string | null;
  readonly hostname: string | null;
  readonly unixname: string | null;
  readonly queues: readonly string[] | null;
  readonly concurrency: number | null;
  /** Running, and heard of within the threshold, as is the queue of a worker; by the database's clock. */
  readonly isAlive: boolean;
}

export interface JobFilter extends PageRequest {
  /** A process silent for longer than this is not alive. */
  readonly aliveSeconds: number;
  readonly isAlive?: boolean | undefined;
  readonly jobType?: string | undefined;
  readonly jobState?: string | undefined;
  readonly hostname?: string | undefined;
  readonly orderBy?: readonly string[] | undefined;
}

// A worker whose queue has not answered for as long lives, and is of no use.
const ALIVE = "(j.state = 'running' and least(j.latest_heartbeat, j.last_poll) > now() - make_interval(secs => ?))";

export async function listJobs(db: Reader, filter: JobFilter): Promise<Page<JobRow>> {
  const query = sql.from({ j: "job" });
  const equal = { "j.job_type": filter.jobType, "j.state": filter.jobState, "j.hostname": filter.hostname };
  for (const [column, value] of Object.entries(equal)) if (value !== undefined) void query.where(column, value);
  if (filter.isAlive !== undefined)
    void query.whereRaw(`${ALIVE} is ${filter.isAlive ? "true" : "not true"}`, [filter.aliveSeconds]);
  const keys = Object.fromEntries(
    ["id", "job_type", "state", "start_date", "end_date", "latest_heartbeat", "hostname"].map((k) => [k, `j.${k}`]),
  );
  const alive = sql.raw(`coalesce(${ALIVE}, false) as is_alive`, [filter.aliveSeconds]);
  return await readPage(
    db,
    query,
    {
      columns: "j.*",
      order: orderBy(keys, filter.orderBy ?? ["id"], "j.id"),
      joins: (rows) => rows.select(alive),
    },
    filter,
  );
}

export interface PoolRow {
  readonly id: number;
  readonly pool: string;
  /** -1: without limit. */
  readonly slots: number;
  readonly description: string | null;
  readonly includeDeferred: boolean;
  readonly occupiedSlots: number;
  readonly runningSlots: number;
  readonly queuedSlots: number;
  readonly scheduledSlots: number;
  readonly deferredSlots: number;
  /** -1: without limit. */
  readonly openSlots: number;
}

export interface PoolFilter extends PageRequest {
  readonly poolNamePattern?: string | undefined;
  readonly pools?: readonly string[] | undefined;
  readonly orderBy?: readonly string[] | undefined;
}

const STATES = OCCUPYING_TASK_STATES.map((state) => `'${state}'`).join(", ");
// Counted from rows, as the critical section counts them. The states stand as text so that the partial indexes serve.
const SLOTS = `left join lateral (
  select coalesce(sum(pool_slots) filter (where state in (${STATES}) or (p.include_deferred and state = 'deferred')), 0)::int as occupied_slots,
    coalesce(sum(pool_slots) filter (where state in ('running', 'restarting', 'shutdown')), 0)::int as running_slots,
    coalesce(sum(pool_slots) filter (where state = 'queued'), 0)::int as queued_slots,
    coalesce(sum(pool_slots) filter (where state = 'scheduled'), 0)::int as scheduled_slots,
    coalesce(sum(pool_slots) filter (where state = 'deferred'), 0)::int as deferred_slots
  from (
    select pool_slots, state from task_instance where pool = p.pool and state in (${STATES})
    union all select pool_slots, state from task_instance where pool = p.pool and state = 'scheduled'
    union all select pool_slots, state from task_instance where pool = p.pool and state = 'deferred') t) u on true`;

export async function listPools(db: Reader, filter: PoolFilter = {}): Promise<Page<PoolRow>> {
  const query = sql.from({ p: "slot_pool" });
  matchPattern(query, "p.pool", filter.poolNamePattern);
  oneOf(query, "p.pool", filter.pools);
  return await readPage(
    db,
    query,
    {
      columns:
        "p.*, u.*, case when p.slots = -1 then -1 else greatest(p.slots - u.occupied_slots, 0) end as open_slots",
      order: orderBy({ id: "p.id", name: "p.pool", pool: "p.pool" }, filter.orderBy ?? ["id"], "p.id"),
      joins: (rows) => rows.joinRaw(SLOTS),
    },
    filter,
  );
}

/** @throws AppError POOL_NOT_FOUND */
export async function getPool(db: Reader, pool: string): Promise<PoolRow> {
  const { items } = await listPools(db, { pools: [pool] });
  if (items[0] === undefined) throw new AppError("POOL_NOT_FOUND", { pool });
  return items[0];
}
