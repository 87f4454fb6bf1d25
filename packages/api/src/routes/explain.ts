import { explainDag, explainRun, explainTask } from "@millrace/shared/db";
import type { App, Context } from "../http/app.ts";
import { presentDagExplanation, presentDependencies, presentRunExplanation } from "../present/present-explanation.ts";
import { DagPath, RunPath, TaskPath } from "../schemas/common.ts";
import { DagExplanation, Dependencies, MapIndexQuery, MappedPath, RunExplanation } from "../schemas/history.ts";

const RUN = "/api/v2/dags/:dag_id/dagRuns/:dag_run_id";

export function explainRoutes(app: App, { db, config, versions }: Context): void {
  app.get(
    "/api/v2/dags/:dag_id/explain",
    { schema: { params: DagPath, response: { 200: DagExplanation } } },
    async ({ params }) => presentDagExplanation(await explainDag(db, versions, config, params.dag_id)),
  );

  app.get(`${RUN}/explain`, { schema: { params: RunPath, response: { 200: RunExplanation } } }, async ({ params }) =>
    presentRunExplanation(await explainRun(db, versions, config, params.dag_id, params.dag_run_id)),
  );

  const dependencies = async (
    { dag_id, dag_run_id, task_id }: { dag_id: string; dag_run_id: string; task_id: string },
    mapIndex: number | undefined,
  ) => presentDependencies(await explainTask(db, versions, config, dag_id, dag_run_id, task_id, mapIndex));

  app.get(
    `${RUN}/taskInstances/:task_id/dependencies`,
    { schema: { params: TaskPath, querystring: MapIndexQuery, response: { 200: Dependencies } } },
    async ({ params, query }) => await dependencies(params, query.map_index),
  );

  app.get(
    `${RUN}/taskInstances/:task_id/:map_index/dependencies`,
    { schema: { params: MappedPath, response: { 200: Dependencies } } },
    async ({ params }) => await dependencies(params, params.map_index),
  );
}
