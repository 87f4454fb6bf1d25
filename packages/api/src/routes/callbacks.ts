// What became of callbacks: whether they were asked for, called, or failed, and with what.
import { getRun, listCallbacks } from "@millrace/shared/db";
import { Type } from "typebox";
import type { App, Context } from "../http/app.ts";
import { pageOf } from "../http/paging.ts";
import { instant } from "../present/present-dag.ts";
import { CallbackCollection, CallbackListQuery } from "../schemas/callbacks.ts";
import { RunPath } from "../schemas/common.ts";

export function callbackRoutes(app: App, { db, config }: Context): void {
  app.get(
    "/api/v2/dags/:dag_id/dagRuns/:dag_run_id/callbacks",
    { schema: { params: RunPath, querystring: Type.Object(CallbackListQuery), response: { 200: CallbackCollection } } },
    async ({ params, query }) => {
      const run = await getRun(db, params.dag_id, params.dag_run_id);
      const { state, task_id: taskId, map_index: mapIndex } = query;
      const page = await listCallbacks(db, run.id, { ...pageOf(query, config.api), state, taskId, mapIndex });
      return {
        callbacks: page.items.map((callback) => ({
          id: callback.id,
          kind: callback.kind,
          state: callback.state,
          task_id: callback.taskId,
          map_index: callback.mapIndex,
          try_number: callback.tryNumber,
          created_at: callback.createdAt.toISOString(),
          attempts: callback.attempts,
          lease_until: instant(callback.leaseUntil),
          hostname: callback.hostname,
          output: callback.output,
        })),
        total_entries: page.totalEntries,
      };
    },
  );
}
