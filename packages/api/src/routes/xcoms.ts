import { getRun, getXCom, listXComs } from "@millrace/shared/db";
import { Type } from "typebox";
import type { App, Context } from "../http/app.ts";
import { pageOf } from "../http/paging.ts";
import { presentXCom } from "../present/present-task-instance.ts";
import { Flag, Int, Paging, TaskPath, Text } from "../schemas/common.ts";
import { XComCollection, XComValue } from "../schemas/task-instances.ts";

const BASE = "/api/v2/dags/:dag_id/dagRuns/:dag_run_id/taskInstances/:task_id/xcomEntries";

export function xcomRoutes(app: App, { db, config, known, xcoms }: Context): void {
  const ListQuery = Type.Object({ ...Paging, xcom_key: Text, xcom_key_pattern: Text, map_index: Int });
  app.get(
    BASE,
    { schema: { params: TaskPath, querystring: ListQuery, response: { 200: XComCollection } } },
    async ({ params, query }) => {
      const key = { dagId: params.dag_id, runId: params.dag_run_id, taskId: params.task_id };
      if (key.dagId !== "~" && key.runId !== "~") await getRun(db, key.dagId, key.runId);
      const page = await listXComs(db, {
        ...key,
        ...pageOf(query, config.api),
        mapIndex: query.map_index,
        key: query.xcom_key,
        keyPattern: query.xcom_key_pattern,
      });
      return { xcom_entries: page.items.map(presentXCom), total_entries: page.totalEntries };
    },
  );

  const ValuePath = Type.Object({ ...TaskPath.properties, xcom_key: Type.String({ minLength: 1, maxLength: 512 }) });
  const ValueQuery = Type.Object({ map_index: Int, stringify: Flag, deserialize: Flag });
  app.get(
    `${BASE}/:xcom_key`,
    { schema: { params: ValuePath, querystring: ValueQuery, response: { 200: XComValue } } },
    async ({ params, query }) => {
      const xcom = await getXCom(db, {
        dagId: params.dag_id,
        runId: params.dag_run_id,
        taskId: params.task_id,
        mapIndex: query.map_index ?? -1,
        key: params.xcom_key,
      });
      const asText = query.stringify === true || query.deserialize === true;
      const redactor = await known.redactor();
      const value = redactor.redactValue(await xcoms.resolve(xcom.value), xcom.key);
      return { ...presentXCom(xcom), value: asText ? JSON.stringify(value) : value };
    },
  );
}
