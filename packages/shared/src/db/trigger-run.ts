// A run that a person or a program asks for. Unique by run id only: two in one second are both accepted, and none ever
// stands in the way of a scheduled one.
import { randomBytes } from "node:crypto";
import { AppError, messageOf } from "../errors/index.ts";
import {
  inferManualInterval,
  manualIntervalOf,
  RUN_TYPES,
  timeOf,
  type DagGraph,
  type Interval,
} from "../model/index.ts";
import { checkRunFits } from "../params/index.ts";
import { createRuns, type NewRun } from "./create-runs.ts";
import type { DagVersions } from "./dag-versions.ts";
import type { Database } from "./database.ts";
import { defineStatement } from "./statement.ts";
import { readPlans } from "./timetable-plans.ts";
import { insertLog } from "./statements/insert-log.ts";
import { writeRunNote } from "./statements/run-notes.ts";

export interface TriggerRequest {
  readonly dagId: string;
  readonly runId?: string | undefined;
  /** Null: a run without a logical date. Undefined: the time of the request. */
  readonly logicalDate?: Date | null | undefined;
  readonly interval?: Interval | undefined;
  readonly runAfter?: Date | undefined;
  readonly conf?: unknown;
  readonly triggeredBy: NewRun["triggeredBy"];
  readonly user: string | null;
  /** Up to 1,000 characters. */
  readonly note?: string | undefined;
  /** @default "manual" */
  readonly runType?: "manual" | "asset_materialization" | undefined;
  readonly partitionKey?: string | undefined;
  /** More for the row of the audit log that is written with the run; without it, or without a user, none is. */
  readonly audit?: string | undefined;
}

export interface TriggeredRun {
  readonly id: number;
  readonly dagId: string;
  readonly runId: string;
}

const readDagToTrigger = defineStatement<
  readonly [dagId: string],
  { isStale: boolean; hasImportErrors: boolean; fileloc: string; versionId: string | null; now: Date }
>({
  name: "read-dag-to-trigger",
  sql: `
select d.is_stale as "isStale", d.has_import_errors as "hasImportErrors", d.relative_fileloc as fileloc, now() as now,
  (select v.id from dag_version v where v.dag_id = d.dag_id order by v.version_number desc limit 1) as "versionId"
from dag d where d.dag_id = $1`,
});

/**
 * Creates the run, queued. The caller wakes the schedulers after it.
 * @throws AppError DAG_NOT_FOUND, DAG_STALE, DAG_HAS_IMPORT_ERROR, RUN_EXISTS, RUN_ID_INVALID, RUN_CONF_INVALID or
 * RUN_PARAMS_INVALID.
 */
export async function triggerRun(db: Database, versions: DagVersions, request: TriggerRequest): Promise<TriggeredRun> {
  const planned = await planTrigger(db, versions, request);
  return createdOf(planned, (await writeTriggers(db, [planned]))[0]);
}

/** What a request comes to, checked. */
export interface PlannedTrigger {
  readonly request: TriggerRequest;
  readonly run: NewRun;
}

/** @throws AppError as `triggerRun`, but for RUN_EXISTS */
export async function planTrigger(
  db: Database,
  versions: DagVersions,
  request: TriggerRequest,
): Promise<PlannedTrigger> {
  const { dagId } = request;
  const conf = checkConf(request.conf);
  const { graph, versionId, now } = await readDagToRun(db, versions, dagId);
  const isCustom = timeOf(graph.spec.schedule).kind === "custom";
  const plan = isCustom ? (await readPlans(db, [dagId])).get(dagId) : undefined;
  const infer = (at: number): Interval =>
    plan === undefined ? inferManualInterval(graph.spec.schedule, at) : manualIntervalOf(plan, at);
  checkRunFits(graph.spec, conf);
  return { request, run: planManualRun(graph, versionId, request, conf, now, infer) };
}

/** In one transaction, with their notes and rows of the audit log; undefined for one whose run exists. No two have the same id. */
export async function writeTriggers(
  db: Database,
  planned: readonly PlannedTrigger[],
): Promise<(TriggeredRun | undefined)[]> {
  return await db.transaction(async (tx) => {
    const created = new Map(
      (
        await createRuns(
          tx,
          planned.map(({ run }) => run),
        )
      ).map((run) => [keyOf(run.dagId, run.runId), run]),
    );
    const made = planned.map(({ request, run }) => ({ request, created: created.get(runKey(run)) }));
    const audited: { readonly run: TriggeredRun; readonly user: string; readonly audit: string }[] = [];
    for (const { request, created: run } of made) {
      if (run === undefined) continue;
      const { note, user, audit } = request;
      if (note !== undefined) await tx.run(writeRunNote, [run.id, note, user]);
      if (audit !== undefined && user !== null) audited.push({ run, user, audit });
    }
    if (audited.length > 0) {
      const none = audited.map(() => null);
      await tx.run(insertLog, [
        audited.map(() => "trigger_dag_run"),
        audited.map(({ run }) => run.dagId),
        none,
        audited.map(({ run }) => run.runId),
        none,
        none,
        audited.map(({ user }) => user),
        audited.map(({ audit }) => audit),
      ]);
    }
    return made.map((one) => one.created);
  });
}

const keyOf = (dagId: string, runId: string): string => `${dagId}\n${runId}`;
export const runKey = (run: NewRun): string => keyOf(run.graph.spec.dagId, run.runId);

/** @throws AppError RUN_EXISTS */
export function createdOf({ run }: PlannedTrigger, created: TriggeredRun | undefined): TriggeredRun {
  if (created === undefined) throw new AppError("RUN_EXISTS", { dagId: run.graph.spec.dagId, runId: run.runId });
  return created;
}

/**
 * The newest version of a DAG that can be run, and the database's time.
 * @throws AppError DAG_NOT_FOUND, DAG_STALE or DAG_HAS_IMPORT_ERROR.
 */
export async function readDagToRun(
  db: Database,
  versions: DagVersions,
  dagId: string,
): Promise<{ readonly graph: DagGraph; readonly versionId: string; readonly now: number }> {
  const [dag] = await db.run(readDagToTrigger, [dagId]);
  if (dag === undefined) throw new AppError("DAG_NOT_FOUND", { dagId });
  if (dag.isStale) throw new AppError("DAG_STALE", { dagId });
  const { versionId } = dag;
  if (dag.hasImportErrors || versionId === null) {
    throw new AppError("DAG_HAS_IMPORT_ERROR", { dagId, file: dag.fileloc });
  }
  const graph = (await versions.load([versionId])).get(versionId);
  if (graph === undefined) throw new AppError("DAG_NOT_FOUND", { dagId });
  return { graph, versionId, now: dag.now.getTime() };
}

function planManualRun(
  graph: DagGraph,
  versionId: string,
  request: TriggerRequest,
  conf: Readonly<Record<string, unknown>>,
  now: number,
  infer: (at: number) => Interval,
): NewRun {
  const logicalDate = request.logicalDate === null ? null : (request.logicalDate?.getTime() ?? now);
  const runAfter = request.runAfter?.getTime() ?? Math.max(now, logicalDate ?? now);
  if (request.runId !== undefined) checkRunId(request.runId);
  const { runType = "manual", partitionKey } = request;
  return {
    graph,
    versionId,
    runId: request.runId ?? `${runType}__${new Date(runAfter).toISOString()}_${randomBytes(4).toString("hex")}`,
    runType,
    logicalDate,
    interval: logicalDate === null ? null : (request.interval ?? infer(logicalDate)),
    runAfter,
    conf,
    triggeredBy: request.triggeredBy,
    user: request.user,
    ...(partitionKey === undefined ? {} : { partitionKey }),
  };
}

function checkRunId(runId: string): void {
  const reserved = RUN_TYPES.some((type) => type !== "manual" && runId.startsWith(`${type}__`));
  if (!/^[A-Za-z0-9_.~:+-]{1,250}$/.test(runId) || runId.includes("..") || reserved) {
    throw new AppError("RUN_ID_INVALID", { runId });
  }
}

// A zero byte or half of a surrogate pair. JSON.stringify escapes these and no others so; a backslash of the text is two.
const UNSTORABLE = /(?<!\\)(?:\\\\)*(\\u(?:0000|d[89a-f][0-9a-f]{2}))/;

/** @throws AppError RUN_CONF_INVALID. */
export function checkConf(conf: unknown): Readonly<Record<string, unknown>> {
  if (conf === undefined || conf === null) return {};
  if (typeof conf !== "object" || Array.isArray(conf))
    throw new AppError("RUN_CONF_INVALID", { cause: "it is not an object" });
  const unstorable = UNSTORABLE.exec(jsonOf(conf))?.[1];
  if (unstorable !== undefined) {
    throw new AppError("RUN_CONF_INVALID", {
      cause: `it holds ${unstorable}, which is no character that Postgres can store`,
    });
  }
  return conf as Readonly<Record<string, unknown>>;
}

function jsonOf(conf: object): string {
  try {
    return JSON.stringify(conf);
  } catch (error) {
    const [cause = ""] = messageOf(error).split("\n");
    throw new AppError("RUN_CONF_INVALID", { cause: `it cannot be said as JSON: ${cause}` });
  }
}
