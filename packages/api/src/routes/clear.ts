import { clearTasks, getRun, type ClearRequest } from "@millrace/shared/db";
import { AppError } from "@millrace/shared/errors";
import { crashPoint } from "@millrace/shared/lifecycle";
import { announce } from "@millrace/shared/queue";
import { Type, type Static } from "typebox";
import { userName } from "../auth/guard.ts";
import type { App, Context } from "../http/app.ts";
import { presentRun } from "../present/present-run.ts";
import { DagPath, RunPath } from "../schemas/common.ts";
import { ClearBody, ClearRunBody } from "../schemas/history.ts";
import { DagRun } from "../schemas/runs.ts";
import { TaskInstanceCollection } from "../schemas/task-instances.ts";
import { presentOperated } from "../present/present-operated.ts";

export function clearRoutes(app: App, context: Context): void {
  const { db, broker, versions } = context;
  const clear = async (request: ClearRequest) => {
    const operated = await clearTasks(db, versions, request);
    crashPoint("api.cleared");
    announce(broker, operated);
    return await presentOperated(db, request.dagId, operated.tasks);
  };

  app.post(
    "/api/v2/dags/:dag_id/clearTaskInstances",
    { schema: { params: DagPath, body: ClearBody, response: { 200: TaskInstanceCollection } } },
    async (request) => {
      const { body } = request;
      return await clear({
        dagId: request.params.dag_id,
        user: userName(request),
        ...runsOf(body),
        ...tasksOf(body),
        upstream: body.include_upstream ?? false,
        downstream: body.include_downstream ?? false,
        // Exactly the tasks that are named, or with what is behind or before them also the setups of all that work.
        withSetups: body.include_upstream === true || body.include_downstream === true,
        onlyFailed: body.only_failed ?? true,
        onlyRunning: body.only_running ?? false,
        resetDagRuns: body.reset_dag_runs ?? true,
        runOnLatestVersion: body.run_on_latest_version ?? false,
        preventRunningTask: body.prevent_running_task ?? false,
        recursive: body.recursive ?? false,
        dryRun: body.dry_run ?? true,
      });
    },
  );

  app.post(
    "/api/v2/dags/:dag_id/dagRuns/:dag_run_id/clear",
    {
      schema: {
        params: RunPath,
        body: ClearRunBody,
        response: { 200: Type.Union([TaskInstanceCollection, DagRun]) },
      },
    },
    async (request) => {
      const { body, params } = request;
      const dryRun = body.dry_run ?? true;
      const cleared = await clear({
        dagId: params.dag_id,
        runIds: [params.dag_run_id],
        user: userName(request),
        onlyFailed: body.only_failed ?? false,
        runOnLatestVersion: body.run_on_latest_version ?? false,
        dryRun,
      });
      return dryRun ? cleared : presentRun(await getRun(db, params.dag_id, params.dag_run_id));
    },
  );
}

type Body = Static<typeof ClearBody>;

function runsOf(body: Body): Pick<ClearRequest, "runIds" | "from" | "to" | "past" | "future"> {
  const { dag_run_id: runId, start_date: from, end_date: to, include_past: past, include_future: future } = body;
  if (runId != null) {
    if (from != null || to != null) {
      throw new AppError("REQUEST_INVALID", { cause: "dag_run_id and start_date or end_date exclude each other" });
    }
    return { runIds: [runId], past: past ?? false, future: future ?? false };
  }
  if (past === true || future === true) {
    throw new AppError("REQUEST_INVALID", { cause: "include_past and include_future go with dag_run_id" });
  }
  return { ...(from == null ? {} : { from: new Date(from) }), ...(to == null ? {} : { to: new Date(to) }) };
}

/** A task that is named both ways is meant with all its instances. */
function tasksOf({ task_ids: given }: Body): Pick<ClearRequest, "taskIds" | "mapIndexes"> {
  if (given == null || given.length === 0) return {};
  const whole = new Set(given.filter((one) => typeof one === "string"));
  const mapIndexes: Record<string, number[]> = {};
  for (const one of given) {
    if (typeof one === "string" || whole.has(one[0])) continue;
    (mapIndexes[one[0]] ??= []).push(one[1]);
  }
  return { taskIds: [...whole, ...Object.keys(mapIndexes)], mapIndexes };
}
