import {
  cancelBackfill,
  createBackfill,
  getBackfill,
  listBackfills,
  previewBackfill,
  setBackfillPaused,
  type BackfillRequest,
} from "@millrace/shared/db";
import type { FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { userName } from "../auth/guard.ts";
import type { App, Context } from "../http/app.ts";
import { pageOf } from "../http/paging.ts";
import { presentBackfill } from "../present/present-backfill.ts";
import {
  Backfill,
  BackfillBody,
  BackfillCollection,
  BackfillListQuery,
  BackfillPath,
  DryRunCollection,
} from "../schemas/backfills.ts";

export function backfillRoutes(app: App, { db, broker, config, versions }: Context): void {
  const wake = () => broker.wake([{ dagRunId: null, taskIds: null }]);
  const answer = async (id: number) => presentBackfill(await getBackfill(db, id));

  app.get(
    "/api/v2/backfills",
    { schema: { querystring: BackfillListQuery, response: { 200: BackfillCollection } } },
    async ({ query }) => {
      const page = await listBackfills(db, {
        ...pageOf(query, config.api),
        dagId: query.dag_id,
        orderBy: query.order_by,
      });
      return { backfills: page.items.map(presentBackfill), total_entries: page.totalEntries };
    },
  );

  app.post("/api/v2/backfills", { schema: { body: BackfillBody, response: { 200: Backfill } } }, async (request) => {
    const id = await createBackfill(db, versions, requestOf(request, request.body));
    wake();
    return await answer(id);
  });

  app.post(
    "/api/v2/backfills/dry_run",
    { schema: { body: BackfillBody, response: { 200: DryRunCollection } } },
    async (request) => {
      const { dates } = await previewBackfill(db, versions, requestOf(request, request.body));
      return {
        backfills: dates.map(({ logicalDate }) => ({
          logical_date: logicalDate.toISOString(),
          partition_key: null,
          partition_date: null,
        })),
        total_entries: dates.length,
      };
    },
  );

  const one = { schema: { params: BackfillPath, response: { 200: Backfill } } };
  app.get("/api/v2/backfills/:backfill_id", one, async ({ params }) => await answer(params.backfill_id));

  app.put("/api/v2/backfills/:backfill_id/pause", one, async (request) => {
    await setBackfillPaused(db, request.params.backfill_id, true, userName(request));
    return await answer(request.params.backfill_id);
  });

  app.put("/api/v2/backfills/:backfill_id/unpause", one, async (request) => {
    await setBackfillPaused(db, request.params.backfill_id, false, userName(request));
    wake();
    return await answer(request.params.backfill_id);
  });

  app.put("/api/v2/backfills/:backfill_id/cancel", one, async (request) => {
    await cancelBackfill(db, request.params.backfill_id, userName(request));
    wake();
    return await answer(request.params.backfill_id);
  });
}

const requestOf = (request: FastifyRequest, body: Static<typeof BackfillBody>): BackfillRequest => ({
  dagId: body.dag_id,
  from: new Date(body.from_date),
  to: new Date(body.to_date),
  runBackwards: body.run_backwards,
  conf: body.dag_run_conf,
  reprocessBehavior: body.reprocess_behavior,
  maxActiveRuns: body.max_active_runs,
  runOnLatestVersion: body.run_on_latest_version,
  user: userName(request),
});
