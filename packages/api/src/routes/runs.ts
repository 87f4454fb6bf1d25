import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { getDag, getDagSpec, getRun, listGridColumns, listRuns, type RunRow } from "@millrace/shared/db";
import { AppError } from "@millrace/shared/errors";
import { crashPoint } from "@millrace/shared/lifecycle";
import type { FastifyRequest } from "fastify";
import { Type, type Static } from "typebox";
import { userName } from "../auth/guard.ts";
import type { App, Context } from "../http/app.ts";
import { pageOf, rangeIn } from "../http/paging.ts";
import { presentGrid, presentRun } from "../present/present-run.ts";
import { DagPath, RunPath, Texts } from "../schemas/common.ts";
import { DagRun, DagRunCollection, DagRunListQuery, Grid, IdempotencyHeader, TriggerBody } from "../schemas/runs.ts";

const GRID_RUNS = 25;

export function runRoutes(app: App, context: Context): void {
  const { db, config } = context;

  app.get(
    "/api/v2/dags/:dag_id/dagRuns",
    { schema: { params: DagPath, querystring: DagRunListQuery, response: { 200: DagRunCollection } } },
    async ({ params, query }) => {
      if (params.dag_id !== "~") await getDag(db, params.dag_id);
      const page = await listRuns(db, params.dag_id, {
        ...pageOf(query, config.api),
        state: query.state,
        runType: query.run_type,
        dagIdPattern: query.dag_id_pattern,
        runIdPattern: query.run_id_pattern,
        runAfter: rangeIn(query, "run_after"),
        logicalDate: rangeIn(query, "logical_date"),
        startDate: rangeIn(query, "start_date"),
        endDate: rangeIn(query, "end_date"),
        updatedAt: rangeIn(query, "updated_at"),
        orderBy: query.order_by,
      });
      return { dag_runs: page.items.map(presentRun), total_entries: page.totalEntries };
    },
  );

  app.get(
    "/api/v2/dags/:dag_id/dagRuns/:dag_run_id",
    { schema: { params: RunPath, response: { 200: DagRun } } },
    async ({ params }) => presentRun(await getRun(db, params.dag_id, params.dag_run_id)),
  );

  app.post(
    "/api/v2/dags/:dag_id/dagRuns",
    { schema: { params: DagPath, body: TriggerBody, headers: IdempotencyHeader, response: { 200: DagRun } } },
    async (request) =>
      presentRun(
        await trigger(context, request, request.params.dag_id, request.body, request.headers["idempotency-key"]),
      ),
  );

  const GridQuery = Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    state: Texts,
    run_type: Texts,
  });
  app.get(
    "/ui/dags/:dag_id/grid",
    { schema: { params: DagPath, querystring: GridQuery, response: { 200: Grid } } },
    async ({ params, query }) => {
      const [spec, runs] = await Promise.all([
        getDagSpec(db, params.dag_id),
        listRuns(db, params.dag_id, {
          limit: query.limit ?? GRID_RUNS,
          state: query.state,
          runType: query.run_type,
          orderBy: ["-run_after"],
        }),
      ]);
      const newest = runs.items.toReversed();
      const columns = await listGridColumns(
        db,
        params.dag_id,
        newest.map((run) => run.runId),
      );
      return presentGrid(spec, newest, columns);
    },
  );
}

/**
 * A key makes the run's id, so that the same request sent twice finds the run of the first. With an id of its own the
 * request is the same when its conf is.
 */
async function trigger(
  { db, broker, triggers }: Context,
  request: FastifyRequest,
  dagId: string,
  body: Static<typeof TriggerBody>,
  key: string | undefined,
): Promise<RunRow> {
  const runId = body.dag_run_id ?? (key === undefined ? undefined : runIdOf(dagId, key));
  const date = (text: string | null | undefined) => (text == null ? undefined : new Date(text));
  try {
    const run = await triggers.trigger({
      dagId,
      runId,
      logicalDate: body.logical_date === null ? null : date(body.logical_date),
      interval: intervalOf(body),
      runAfter: date(body.run_after),
      conf: body.conf,
      note: body.note ?? undefined,
      partitionKey: body.partition_key ?? undefined,
      triggeredBy: request.fromUi ? "ui" : "rest_api",
      user: userName(request),
      audit: JSON.stringify({ method: request.method, conf_keys: Object.keys(body.conf ?? {}) }),
    });
    crashPoint("api.triggered");
    broker.wake([{ dagRunId: null, taskIds: null }]);
    return await getRun(db, dagId, run.runId);
  } catch (error) {
    if (key === undefined || runId === undefined) throw error;
    if (!(error instanceof AppError) || error.code !== "RUN_EXISTS") throw error;
    const existing = await getRun(db, dagId, runId);
    if (!isDeepStrictEqual(existing.conf, body.conf ?? {})) throw error;
    return existing;
  }
}

const runIdOf = (dagId: string, key: string): string =>
  `manual__${createHash("sha256").update(`${dagId}\n${key}`).digest("hex").slice(0, 40)}`;

function intervalOf(body: Static<typeof TriggerBody>): { start: number; end: number } | undefined {
  const { data_interval_start: start, data_interval_end: end } = body;
  if (start == null && end == null) return undefined;
  if (start == null || end == null) {
    throw new AppError("REQUEST_INVALID", { cause: "data_interval_start and data_interval_end go together" });
  }
  const interval = { start: Date.parse(start), end: Date.parse(end) };
  if (interval.start > interval.end) {
    throw new AppError("REQUEST_INVALID", { cause: "data_interval_start is after data_interval_end" });
  }
  return interval;
}
