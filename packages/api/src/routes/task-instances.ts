import { getRun, getTaskInstance, listTaskInstances, listTries } from "@millrace/shared/db";
import { Type } from "typebox";
import type { App, Context } from "../http/app.ts";
import { pageOf } from "../http/paging.ts";
import { presentTaskInstance } from "../present/present-task-instance.ts";
import { Int, RunPath, TaskPath } from "../schemas/common.ts";
import { TaskInstance, TaskInstanceCollection, TaskInstanceListQuery } from "../schemas/task-instances.ts";

const MapIndex = Type.Object({ map_index: Int });
const BASE = "/api/v2/dags/:dag_id/dagRuns/:dag_run_id/taskInstances";

export function taskInstanceRoutes(app: App, { db, config }: Context): void {
  app.get(
    BASE,
    { schema: { params: RunPath, querystring: TaskInstanceListQuery, response: { 200: TaskInstanceCollection } } },
    async ({ params, query }) => {
      const { dag_id, dag_run_id } = params;
      if (dag_id !== "~" && dag_run_id !== "~") await getRun(db, dag_id, dag_run_id);
      const page = await listTaskInstances(db, dag_id, dag_run_id, {
        ...pageOf(query, config.api),
        taskId: query.task_id,
        taskIdPattern: query.task_display_name_pattern,
        dagIdPattern: query.dag_id_pattern,
        runIdPattern: query.run_id_pattern,
        state: query.state,
        pool: query.pool,
        queue: query.queue,
        operator: query.operator,
        mapIndex: query.map_index,
        orderBy: query.order_by,
      });
      return { task_instances: page.items.map(presentTaskInstance), total_entries: page.totalEntries };
    },
  );

  const keyOf = (params: { dag_id: string; dag_run_id: string; task_id: string }, mapIndex: number | undefined) => ({
    dagId: params.dag_id,
    runId: params.dag_run_id,
    taskId: params.task_id,
    mapIndex,
  });

  app.get(
    `${BASE}/:task_id`,
    { schema: { params: TaskPath, querystring: MapIndex, response: { 200: TaskInstance } } },
    async ({ params, query }) => presentTaskInstance(await getTaskInstance(db, keyOf(params, query.map_index))),
  );

  app.get(
    `${BASE}/:task_id/tries`,
    { schema: { params: TaskPath, querystring: MapIndex, response: { 200: TaskInstanceCollection } } },
    async ({ params, query }) => {
      const tries = await listTries(db, keyOf(params, query.map_index));
      return { task_instances: tries.map(presentTaskInstance), total_entries: tries.length };
    },
  );
}
