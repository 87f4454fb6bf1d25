// Assets: what is declared, what happened to them, what waits for DAGs; events from outside, and runs that update one.
import {
  createAssetEvent,
  deleteQueuedEvents,
  getAsset,
  getAssetAlias,
  getDag,
  getRun,
  listAssetAliases,
  listAssetEvents,
  listAssets,
  materializeAsset,
  readQueuedEvents,
  type QueuedFilter,
} from "@millrace/shared/db";
import { AppError } from "@millrace/shared/errors";
import { Type } from "typebox";
import { userName } from "../auth/guard.ts";
import type { App, Context } from "../http/app.ts";
import { pageOf, rangeIn } from "../http/paging.ts";
import { presentAsset, presentAssetEvent, presentQueuedEvent } from "../present/present-asset.ts";
import { presentRun } from "../present/present-run.ts";
import * as schemas from "../schemas/assets.ts";
import { DagPath, RunPath } from "../schemas/common.ts";
import { DagRun } from "../schemas/runs.ts";

export function assetRoutes(app: App, { db, broker, config, versions }: Context): void {
  const wake = () => broker.wake([{ dagRunId: null, taskIds: null }]);
  const date = (text: string | null | undefined) => (text == null ? undefined : new Date(text));

  app.get(
    "/api/v2/assets",
    { schema: { querystring: schemas.AssetListQuery, response: { 200: schemas.AssetCollection } } },
    async ({ query }) => {
      const page = await listAssets(db, {
        ...pageOf(query, config.api),
        namePattern: query.name_pattern,
        uriPattern: query.uri_pattern,
        dagIds: query.dag_ids,
        onlyActive: query.only_active,
        orderBy: query.order_by,
      });
      return { assets: page.items.map(presentAsset), total_entries: page.totalEntries };
    },
  );

  app.get(
    "/api/v2/assets/:asset_id",
    { schema: { params: schemas.AssetPath, response: { 200: schemas.Asset } } },
    async ({ params }) => presentAsset(await getAsset(db, params.asset_id)),
  );

  app.get(
    "/api/v2/assets/aliases",
    { schema: { querystring: schemas.AliasListQuery, response: { 200: schemas.AssetAliasCollection } } },
    async ({ query }) => {
      const filter = { ...pageOf(query, config.api), namePattern: query.name_pattern, orderBy: query.order_by };
      const page = await listAssetAliases(db, filter);
      return { asset_aliases: [...page.items], total_entries: page.totalEntries };
    },
  );

  app.get(
    "/api/v2/assets/aliases/:asset_alias_id",
    { schema: { params: schemas.AliasPath, response: { 200: schemas.AssetAlias } } },
    async ({ params }) => await getAssetAlias(db, params.asset_alias_id),
  );

  app.get(
    "/api/v2/assets/events",
    { schema: { querystring: schemas.EventListQuery, response: { 200: schemas.AssetEventCollection } } },
    async ({ query }) => {
      const page = await listAssetEvents(db, {
        ...pageOf(query, config.api),
        assetId: query.asset_id,
        sourceDagId: query.source_dag_id,
        sourceTaskId: query.source_task_id,
        sourceRunId: query.source_run_id,
        sourceMapIndex: query.source_map_index,
        namePattern: query.name_pattern,
        timestamp: rangeIn(query, "timestamp"),
        orderBy: query.order_by,
      });
      return { asset_events: page.items.map(presentAssetEvent), total_entries: page.totalEntries };
    },
  );

  app.post(
    "/api/v2/assets/events",
    { schema: { body: schemas.CreateEventBody, response: { 200: schemas.AssetEvent } } },
    async (request) => {
      const { asset_id: assetId, partition_key: partitionKey, extra } = request.body;
      const id = await createAssetEvent(db, {
        assetId,
        extra: { ...extra, from_rest_api: true },
        partitionKey: partitionKey ?? undefined,
        user: userName(request),
      });
      wake();
      const [event] = (await listAssetEvents(db, { ids: [id] })).items;
      if (event === undefined) throw new AppError("ASSET_NOT_FOUND", { asset: assetId });
      return presentAssetEvent(event);
    },
  );

  app.post(
    "/api/v2/assets/:asset_id/materialize",
    { schema: { params: schemas.AssetPath, body: schemas.MaterializeBody, response: { 200: DagRun } } },
    async (request) => {
      const body = request.body ?? {};
      const run = await materializeAsset(db, versions, {
        assetId: request.params.asset_id,
        runId: body.dag_run_id ?? undefined,
        conf: body.conf ?? undefined,
        logicalDate: date(body.logical_date) ?? null,
        runAfter: date(body.run_after),
        note: body.note ?? undefined,
        partitionKey: body.partition_key ?? undefined,
        triggeredBy: request.fromUi ? "ui" : "rest_api",
        user: userName(request),
      });
      wake();
      return presentRun(await getRun(db, run.dagId, run.runId));
    },
  );

  app.get(
    "/api/v2/dags/:dag_id/dagRuns/:dag_run_id/upstreamAssetEvents",
    { schema: { params: RunPath, response: { 200: schemas.AssetEventCollection } } },
    async ({ params }) => {
      const run = await getRun(db, params.dag_id, params.dag_run_id);
      const page = await listAssetEvents(db, { ofRun: run.id });
      return { asset_events: page.items.map(presentAssetEvent), total_entries: page.totalEntries };
    },
  );

  const queued = async ({ assetId = null, dagId = null, before = null }: Nulls<QueuedFilter>) => {
    const rows = await db.run(readQueuedEvents, [assetId, dagId, before]);
    if (rows.length === 0) throw nothingQueued({ assetId, dagId });
    return rows.map(presentQueuedEvent);
  };
  const drop = async (filter: QueuedFilter, user: string): Promise<void> => {
    if ((await deleteQueuedEvents(db, filter, user)) === 0) throw nothingQueued(filter);
  };
  const collection = async (filter: Nulls<QueuedFilter>) => {
    const events = await queued(filter);
    return { queued_events: events, total_entries: events.length };
  };
  const none = { response: { 204: Type.Null() } };
  const list = { querystring: schemas.BeforeQuery, response: { 200: schemas.QueuedEventCollection } };

  app.get(
    "/api/v2/assets/:asset_id/queuedEvents",
    { schema: { params: schemas.AssetPath, ...list } },
    async ({ params, query }) => {
      await getAsset(db, params.asset_id);
      return await collection({ assetId: params.asset_id, before: date(query.before) });
    },
  );
  app.delete(
    "/api/v2/assets/:asset_id/queuedEvents",
    { schema: { params: schemas.AssetPath, querystring: schemas.BeforeQuery, ...none } },
    async (request, reply) => {
      await getAsset(db, request.params.asset_id);
      await drop({ assetId: request.params.asset_id, before: date(request.query.before) }, userName(request));
      return await reply.code(204).send(null);
    },
  );
  app.get(
    "/api/v2/dags/:dag_id/assets/queuedEvents",
    { schema: { params: DagPath, ...list } },
    async ({ params, query }) => {
      await getDag(db, params.dag_id);
      return await collection({ dagId: params.dag_id, before: date(query.before) });
    },
  );
  app.delete(
    "/api/v2/dags/:dag_id/assets/queuedEvents",
    { schema: { params: DagPath, querystring: schemas.BeforeQuery, ...none } },
    async (request, reply) => {
      await getDag(db, request.params.dag_id);
      await drop({ dagId: request.params.dag_id, before: date(request.query.before) }, userName(request));
      return await reply.code(204).send(null);
    },
  );
  app.get(
    "/api/v2/dags/:dag_id/assets/:asset_id/queuedEvents",
    {
      schema: {
        params: schemas.DagAssetPath,
        querystring: schemas.BeforeQuery,
        response: { 200: schemas.QueuedEvent },
      },
    },
    async ({ params, query }) => {
      const { asset_id: assetId, dag_id: dagId } = params;
      const [event] = await queued({ assetId, dagId, before: date(query.before) });
      if (event === undefined) throw nothingQueued({ assetId, dagId });
      return event;
    },
  );
  app.delete(
    "/api/v2/dags/:dag_id/assets/:asset_id/queuedEvents",
    { schema: { params: schemas.DagAssetPath, querystring: schemas.BeforeQuery, ...none } },
    async (request, reply) => {
      const { asset_id: assetId, dag_id: dagId } = request.params;
      await drop({ assetId, dagId, before: date(request.query.before) }, userName(request));
      return await reply.code(204).send(null);
    },
  );
}

type Nulls<T> = { readonly [K in keyof T]?: T[K] | null };

const nothingQueued = ({ assetId, dagId }: Nulls<QueuedFilter>): AppError =>
  new AppError("QUEUED_EVENTS_NOT_FOUND", {
    what: [assetId == null ? [] : `asset ${assetId}`, dagId == null ? [] : `for DAG ${dagId}`].flat().join(" "),
  });
