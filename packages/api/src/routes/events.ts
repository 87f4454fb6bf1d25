// Server-sent events: a page opens one stream and is told what changes. `ready` says that nothing from here on is
// missed, so a page loads its data when it comes. A reader too slow for its stream is cut off and loads anew.
import { AppError } from "@millrace/shared/errors";
import type { ServerResponse } from "node:http";
import { Type } from "typebox";
import { LiveFeed, type LiveMessage } from "../events/live-feed.ts";
import type { App, Context } from "../http/app.ts";

const MAX_STREAMS = 500;
const MAX_BUFFERED_BYTES = 1024 * 1024;
/** Proxies close what is silent for a minute. */
const KEEP_ALIVE_MS = 20_000;

export function eventRoutes(app: App, { db, log, clock }: Context): void {
  const feed = new LiveFeed({ db, log, clock });
  const streams = new Set<ServerResponse>();
  app.addHook("preClose", async () => {
    for (const stream of streams) stream.end();
    await feed.stop();
  });

  const EventQuery = Type.Object({
    dag_id: Type.Optional(Type.String({ minLength: 1, maxLength: 250 })),
    dag_run_id: Type.Optional(Type.String({ minLength: 1, maxLength: 250 })),
  });
  app.get(
    "/api/v2/events",
    { exposeHeadRoute: false, schema: { querystring: EventQuery } },
    async ({ query }, reply) => {
      if (streams.size >= MAX_STREAMS) throw new AppError("TOO_MANY_STREAMS", { limit: MAX_STREAMS });
      const stream = reply.raw;
      const send = (message: LiveMessage | { readonly event: "ready"; readonly data: object }): void => {
        if (stream.writableLength > MAX_BUFFERED_BYTES) return void stream.destroy();
        stream.write(`event: ${message.event}\ndata: ${JSON.stringify(message.data)}\n\n`);
      };
      // The reply may be closed while the feed starts, so the place is taken before.
      streams.add(stream);
      const closed = new Promise<void>((resolve) => stream.once("close", resolve));
      const leave = await feed
        .watch({ dagId: query.dag_id, runId: query.dag_run_id, push: send })
        .catch((error: unknown) => {
          streams.delete(stream);
          throw error;
        });
      reply.hijack();
      stream.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        "content-type": "text/event-stream; charset=utf-8",
        "x-accel-buffering": "no",
      });
      send({ event: "ready", data: {} });
      let beat = clock.after(KEEP_ALIVE_MS, function keepAlive() {
        stream.write(": still here\n\n");
        beat = clock.after(KEEP_ALIVE_MS, keepAlive);
      });
      void closed.then(() => {
        beat.cancel();
        leave();
        streams.delete(stream);
      });
    },
  );
}
