// Connections without their secrets: what comes back as three stars and is sent again as such stays as it was.
import type { Json } from "@millrace/sdk/spec";
import { insertLog } from "@millrace/shared/db";
import { AppError } from "@millrace/shared/errors";
import {
  connectionFromObject,
  testConnection,
  type Connection,
  type Redactor,
  type StoredConnection,
} from "@millrace/shared/secrets";
import { Type, type Static } from "typebox";
import { userName } from "../auth/guard.ts";
import type { App, Context } from "../http/app.ts";
import { pageOf } from "../http/paging.ts";
import { pageOfList } from "../http/sort-list.ts";
import { HIDDEN, presentConnection, unhide } from "../present/present-secrets.ts";
import { Paging, Sorting, Text, Texts } from "../schemas/common.ts";
import {
  Connection as ConnectionSchema,
  ConnectionBody,
  ConnectionCollection,
  ConnectionPatch,
  ConnectionTestResult,
} from "../schemas/secrets.ts";

const BASE = "/api/v2/connections";
const SORTS = {
  connection_id: (connection: StoredConnection) => connection.connectionId,
  conn_type: (connection: StoredConnection) => connection.connType,
  description: (connection: StoredConnection) => connection.description,
  host: (connection: StoredConnection) => connection.host,
  port: (connection: StoredConnection) => connection.port,
};
type Patch = Static<typeof ConnectionPatch>;

export function connectionRoutes(app: App, { db, config, secrets, known }: Context): void {
  const missing = (connectionId: string) =>
    new AppError("CONNECTION_NOT_FOUND", { connectionId, name: connectionId.toUpperCase() });
  const answer = async (connectionId: string) => {
    const connection = await secrets.stored.findConnection(connectionId);
    if (connection === undefined) throw missing(connectionId);
    return presentConnection(connection, await known.redactor());
  };
  const note = (event: string, connectionId: string, user: string) =>
    [
      insertLog,
      [[event], [null], [null], [null], [null], [null], [user], [JSON.stringify({ connection_id: connectionId })]],
    ] as const;

  const ListQuery = Type.Object({ ...Paging, ...Sorting, connection_id_pattern: Text });
  app.get(BASE, { schema: { querystring: ListQuery, response: { 200: ConnectionCollection } } }, async ({ query }) => {
    const redactor = await known.redactor();
    const { items, total } = pageOfList(
      await secrets.stored.listConnections(),
      { ...pageOf(query, config.api), orderBy: query.order_by, pattern: query.connection_id_pattern },
      ({ connectionId }) => connectionId,
      SORTS,
    );
    return { connections: items.map((one) => presentConnection(one, redactor)), total_entries: total };
  });

  app.post(BASE, { schema: { body: ConnectionBody, response: { 201: ConnectionSchema } } }, async (request, reply) => {
    const { connection_id: connectionId, team_name: _team, ...given } = request.body;
    await db.transaction(async (tx) => {
      await secrets.within(tx).setConnection(connectionFromObject(connectionId, given), "add");
      await tx.run(...note("post_connection", connectionId, userName(request)));
    });
    return await reply.code(201).send(await answer(connectionId));
  });

  app.post(
    `${BASE}/test`,
    { schema: { body: ConnectionBody, response: { 200: ConnectionTestResult } } },
    async ({ body }) => {
      if (!config.core.test_connection) throw new AppError("CONNECTION_TEST_DISABLED");
      const stored = await secrets.stored.getConnection(body.connection_id);
      const redactor = await known.redactor();
      const { works, message } = await testConnection(merged(body.connection_id, stored, body, redactor));
      return { status: works, message: redactor.redact(message) };
    },
  );

  const Path = Type.Object({ connection_id: Type.String({ minLength: 1, maxLength: 250 }) });
  app.get(
    `${BASE}/:connection_id`,
    { schema: { params: Path, response: { 200: ConnectionSchema } } },
    async ({ params }) => await answer(params.connection_id),
  );

  const PatchQuery = Type.Object({ update_mask: Texts });
  app.patch(
    `${BASE}/:connection_id`,
    { schema: { params: Path, querystring: PatchQuery, body: ConnectionPatch, response: { 200: ConnectionSchema } } },
    async (request) => {
      const connectionId = request.params.connection_id;
      const { body, query } = request;
      if (body.connection_id !== undefined && body.connection_id !== connectionId) {
        const cause = `the body names another one, ${body.connection_id}`;
        throw new AppError("CONNECTION_INVALID", { connectionId, cause });
      }
      const mask = query.update_mask;
      const changes = Object.fromEntries(
        Object.entries(body).filter(([field]) => mask === undefined || mask.includes(field)),
      ) as Patch; // some of its fields
      const redactor = await known.redactor();
      await db.transaction(async (tx) => {
        const stored = secrets.within(tx);
        const before = await stored.getConnection(connectionId);
        if (before === undefined) throw missing(connectionId);
        await stored.setConnection(merged(connectionId, before, changes, redactor));
        await tx.run(...note("patch_connection", connectionId, userName(request)));
      });
      return await answer(connectionId);
    },
  );

  app.delete(`${BASE}/:connection_id`, { schema: { params: Path } }, async (request, reply) => {
    const connectionId = request.params.connection_id;
    await db.transaction(async (tx) => {
      if (!(await secrets.within(tx).deleteConnection(connectionId))) throw missing(connectionId);
      await tx.run(...note("delete_connection", connectionId, userName(request)));
    });
    return await reply.code(204).send();
  });
}

/** What is given, over what there is; three stars stand for what there is. */
function merged(connectionId: string, before: Connection | undefined, given: Patch, redactor: Redactor): Connection {
  const { connectionId: _id, connType, ...rest } = before ?? { connectionId, connType: "generic" };
  const { connection_id: _given, team_name: _team, host, password, extra, ...plain } = given;
  const secret = {
    ...(host === undefined ? {} : { host: unhide(host, before?.host, redactor) }),
    ...(password === undefined || password === HIDDEN ? {} : { password }),
    ...(extra === undefined || extra === HIDDEN ? {} : { extra: unhidden(extra, before?.extra ?? {}, redactor) }),
  };
  return connectionFromObject(connectionId, { conn_type: connType, ...rest, ...plain, ...secret });
}

function unhidden(extra: string | null, before: Readonly<Record<string, Json>>, redactor: Redactor): unknown {
  let parsed: unknown;
  try {
    parsed = extra === null ? null : JSON.parse(extra);
  } catch {
    return extra; // refused as it is
  }
  return unhide(parsed, before, redactor);
}
