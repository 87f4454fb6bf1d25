import { getPool, listDagWarnings, listImportErrors, listJobs, listPools } from "@millrace/shared/db";
import { Type } from "typebox";
import type { App, Context } from "../http/app.ts";
import { pageOf } from "../http/paging.ts";
import { presentDagWarning, presentImportError, presentJob, presentPool } from "../present/present-operations.ts";
import { Flag, Paging, Sorting, Text } from "../schemas/common.ts";
import {
  DagWarningCollection,
  ImportErrorCollection,
  JobCollection,
  Pool,
  PoolCollection,
} from "../schemas/operations.ts";

export function operationRoutes(app: App, { db, config }: Context): void {
  const ErrorQuery = Type.Object({ ...Paging, ...Sorting, filename_pattern: Text });
  app.get(
    "/api/v2/importErrors",
    { schema: { querystring: ErrorQuery, response: { 200: ImportErrorCollection } } },
    async ({ query }) => {
      const page = await listImportErrors(db, {
        ...pageOf(query, config.api),
        filenamePattern: query.filename_pattern,
        orderBy: query.order_by,
      });
      return { import_errors: page.items.map(presentImportError), total_entries: page.totalEntries };
    },
  );

  const WarningQuery = Type.Object({ ...Paging, ...Sorting, dag_id: Text, warning_type: Text });
  app.get(
    "/api/v2/dagWarnings",
    { schema: { querystring: WarningQuery, response: { 200: DagWarningCollection } } },
    async ({ query }) => {
      const page = await listDagWarnings(db, {
        ...pageOf(query, config.api),
        dagId: query.dag_id,
        warningType: query.warning_type,
        orderBy: query.order_by,
      });
      return { dag_warnings: page.items.map(presentDagWarning), total_entries: page.totalEntries };
    },
  );

  const PoolQuery = Type.Object({ ...Paging, ...Sorting, pool_name_pattern: Text });
  app.get(
    "/api/v2/pools",
    { schema: { querystring: PoolQuery, response: { 200: PoolCollection } } },
    async ({ query }) => {
      const page = await listPools(db, {
        ...pageOf(query, config.api),
        poolNamePattern: query.pool_name_pattern,
        orderBy: query.order_by,
      });
      return { pools: page.items.map(presentPool), total_entries: page.totalEntries };
    },
  );

  const PoolPath = Type.Object({ pool_name: Type.String({ minLength: 1, maxLength: 256 }) });
  app.get("/api/v2/pools/:pool_name", { schema: { params: PoolPath, response: { 200: Pool } } }, async ({ params }) =>
    presentPool(await getPool(db, params.pool_name)),
  );

  const JobQuery = Type.Object({
    ...Paging,
    ...Sorting,
    is_alive: Flag,
    job_state: Text,
    job_type: Text,
    hostname: Text,
  });
  app.get(
    "/api/v2/jobs",
    { schema: { querystring: JobQuery, response: { 200: JobCollection } } },
    async ({ query }) => {
      const page = await listJobs(db, {
        ...pageOf(query, config.api),
        aliveSeconds: config.scheduler.scheduler_health_check_threshold,
        isAlive: query.is_alive,
        jobState: query.job_state,
        jobType: query.job_type,
        hostname: query.hostname,
        orderBy: query.order_by,
      });
      return { jobs: page.items.map(presentJob), total_entries: page.totalEntries };
    },
  );
}
