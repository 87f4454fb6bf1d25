// Which runs a DAG's schedule will create, from what the scheduler would start with. Reads only.
import type { Catchup, DagSpec, ScheduleSpec } from "@millrace/sdk/spec";
import { AppError } from "../../errors/index.ts";
import { newPlan, pointerAfterChange, previewRuns, timeOf, type RunPreview } from "../../model/index.ts";
import type { Database, Queryable } from "../database.ts";
import { intervalOf, pointerOf, resumeDag } from "../plan-dag.ts";
import { defineStatement } from "../statement.ts";
import type { DagToPlan } from "../statements/dag-lock-to-plan.ts";
import { readTimetablePlans } from "../statements/timetable-read-plans.ts";

/** A change of the DAG that is tried on paper. */
export interface ScheduleChange {
  readonly schedule?: ScheduleSpec | undefined;
  readonly catchup?: Catchup | undefined;
  readonly startDate?: string | undefined;
}

export interface PreviewOptions {
  /** As if the DAG were unpaused now. */
  readonly unpause?: boolean | undefined;
  readonly change?: ScheduleChange | undefined;
  /** @default now, and what is due already */
  readonly from?: Date | undefined;
  /** @default seven days after `from` or now */
  readonly until?: Date | undefined;
  /** @default 100 */
  readonly limit?: number | undefined;
  /** Told now and then how many runs were counted: many take a second. */
  readonly onCounted?: ((runs: number) => void) | undefined;
}

export interface DagPreview extends RunPreview {
  readonly dagId: string;
  readonly isPaused: boolean;
  /** Paused, and not asked about an unpause: none of the runs will be created. */
  readonly isHeld: boolean;
  readonly schedule: ScheduleSpec;
  readonly catchup: Catchup;
  readonly maxActiveRuns: number;
  readonly now: Date;
  readonly from: Date | null;
  readonly until: Date;
}

const DAYS_SHOWN = 7;
const RUNS_SHOWN = 100;

interface PreviewedDag extends DagToPlan {
  readonly maxActiveRuns: number;
  readonly hasImportErrors: boolean;
  readonly file: string;
}

const readDagToPreview = defineStatement<readonly [dagId: string], PreviewedDag>({
  name: "read-dag-to-preview",
  sql: `
select d.dag_id as "dagId", v.data as spec, r.data_interval_start as "lastStart", r.data_interval_end as "lastEnd", now() as now,
  d.is_paused as "isPaused", d.is_stale as "isStale", d.next_dagrun as "nextDate",
  d.next_dagrun_data_interval_start as "nextStart", d.next_dagrun_data_interval_end as "nextEnd",
  d.next_dagrun_create_after as "nextAfter", d.max_active_runs as "maxActiveRuns", d.has_import_errors as "hasImportErrors",
  coalesce(d.relative_fileloc, '') as file
from dag d
cross join lateral (
  select s.data from dag_version v join serialized_dag s on s.dag_version_id = v.id
  where v.dag_id = d.dag_id order by v.version_number desc limit 1
) v
left join lateral (
  select data_interval_start, data_interval_end from dag_run r
  where r.dag_id = d.dag_id and r.run_type in ('scheduled', 'backfill') order by r.logical_date desc limit 1
) r on true
where d.dag_id = $1`,
});

const readTakenDates = defineStatement<readonly [dagId: string, from: Date], { readonly at: Date }>({
  name: "read-taken-dates",
  sql: `
select logical_date as at from dag_run
where dag_id = $1 and run_type in ('scheduled', 'backfill') and logical_date >= $2`,
});

/** @throws AppError DAG_NOT_FOUND, DAG_STALE, DAG_HAS_IMPORT_ERROR, PREVIEW_INVALID or SCHEDULE_INVALID. */
export async function previewDag(db: Database, dagId: string, options: PreviewOptions = {}): Promise<DagPreview> {
  return await db.transaction(async (tx) => await preview(tx, dagId, options), { snapshot: true });
}

async function preview(tx: Queryable, dagId: string, options: PreviewOptions): Promise<DagPreview> {
  const [dag] = await tx.run(readDagToPreview, [dagId]);
  if (dag === undefined) throw new AppError("DAG_NOT_FOUND", { dagId });
  if (dag.isStale) throw new AppError("DAG_STALE", { dagId });
  if (dag.hasImportErrors) throw new AppError("DAG_HAS_IMPORT_ERROR", { dagId, file: dag.file });
  const now = dag.now.getTime();
  const { from, until } = rangeOf(options, now);
  const { unpause = false, change } = options;
  const spec: DagSpec = { ...dag.spec, ...given(change) };
  const [stored] = timeOf(spec.schedule).kind === "custom" ? await tx.run(readTimetablePlans, [[dagId]]) : [];
  const plan = stored === undefined ? newPlan() : { ...stored, askedUntil: stored.askedUntil?.getTime() ?? null };
  const resumed = dag.isPaused ? resumeDag({ ...dag, spec }, plan) : undefined;
  const first =
    resumed !== undefined
      ? resumed.next
      : pointerAfterChange({
          before: dag.spec,
          after: spec,
          pointer: pointerOf(dag),
          isPaused: false,
          last: intervalOf(dag.lastStart, dag.lastEnd),
          now,
        });
  const taken = first === undefined ? [] : await tx.run(readTakenDates, [dagId, new Date(first.logicalDate)]);
  const isCustom = timeOf(spec.schedule).kind === "custom";
  const shown = previewRuns({
    spec,
    first: isCustom ? (resumed?.plan ?? plan).runs[0] : first,
    planned: isCustom ? (resumed?.plan ?? plan).runs : [],
    ended: plan.ended,
    from,
    until,
    now,
    limit: options.limit ?? RUNS_SHOWN,
    taken: new Set(taken.map(({ at }) => at.getTime())),
    onCounted: options.onCounted,
  });
  return {
    ...shown,
    dagId,
    isPaused: dag.isPaused,
    isHeld: dag.isPaused && !unpause,
    schedule: spec.schedule,
    catchup: spec.catchup,
    maxActiveRuns: dag.maxActiveRuns,
    now: dag.now,
    from: options.from ?? null,
    until: new Date(until),
  };
}

const given = (change: ScheduleChange = {}): Partial<DagSpec> =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));

function rangeOf({ from, until }: PreviewOptions, now: number): { from: number; until: number } {
  const start = from?.getTime() ?? -Infinity;
  const end = until?.getTime() ?? Math.max(now, start) + DAYS_SHOWN * 86_400_000;
  if (end < start) {
    throw new AppError("PREVIEW_INVALID", {
      cause: `it ends at ${new Date(end).toISOString()}, before it starts at ${new Date(start).toISOString()}`,
    });
  }
  return { from: start, until: end };
}
