import { getRun, getTaskInstance, listTaskInstances, listTries, type TaskInstanceFilter } from "@millrace/shared/db";
import { Type, type Static } from "typebox";
import type { App, Context } from "../http/app.ts";
import { pageOf } from "../http/paging.ts";
import { presentTaskInstance } from "../present/present-task-instance.ts";
import { Int, RunPath, TaskPath } from "../schemas/common.ts";
import { MappedPath } from "../schemas/history.ts";
import { TaskInstance, TaskInstanceCollection, TaskInstanceListQuery } from "../schemas/task-instances.ts";

const MapIndex = Type.Object({ map_index: Int });
const BASE = "/api/v2/dags/:dag_id/dagRuns/:dag_run_id/taskInstances";

export function taskInstanceRoutes(app: App, { db, config }: Context): void {
  const list = async (
    { dag_id, dag_run_id }: Static<typeof RunPath>,
    query: Static<typeof TaskInstanceListQuery>,
    more: TaskInstanceFilter = {},
  ) => {
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
      ...more,
    });
    return { task_instances: page.items.map(presentTaskInstance), total_entries: page.totalEntries };
  };

  app.get(
    BASE,
    { schema: { params: RunPath, querystring: TaskInstanceListQuery, response: { 200: TaskInstanceCollection } } },
    async ({ params, query }) => {
      const { dag_id, dag_run_id } = params;
      if (dag_id !== "~" && dag_run_id !== "~") await getRun(db, dag_id, dag_run_id);
      return await list(params, query);
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
    `${BASE}/:task_id/:map_index`,
    { schema: { params: MappedPath, response: { 200: TaskInstance } } },
    async ({ params }) => presentTaskInstance(await getTaskInstance(db, keyOf(params, params.map_index))),
  );

  app.get(
    `${BASE}/:task_id/listMapped`,
    { schema: { params: TaskPath, querystring: TaskInstanceListQuery, response: { 200: TaskInstanceCollection } } },
    async ({ params, query }) => {
      const { dag_id, dag_run_id, task_id } = params;
      await getRun(db, dag_id, dag_run_id);
      const found = await list(params, query, { taskId: task_id, isMapped: true });
      if (found.total_entries > 0) return found;
      // Of a task that is not expanded there are none; what the run has not at all is told.
      const any = await listTaskInstances(db, dag_id, dag_run_id, { taskId: task_id, limit: 1 });
      if (any.items.length === 0) await getTaskInstance(db, keyOf(params, undefined));
      return found;
    },
  );

  const tries = async (key: ReturnType<typeof keyOf>) => {
    const all = await listTries(db, key);
    return { task_instances: all.map(presentTaskInstance), total_entries: all.length };
  };
  app.get(
    `${BASE}/:task_id/tries`,
    { schema: { params: TaskPath, querystring: MapIndex, response: { 200: TaskInstanceCollection } } },
    async ({ params, query }) => await tries(keyOf(params, query.map_index)),
  );
  app.get(
    `${BASE}/:task_id/:map_index/tries`,
    { schema: { params: MappedPath, response: { 200: TaskInstanceCollection } } },
    async ({ params }) => await tries(keyOf(params, params.map_index)),
  );
}
