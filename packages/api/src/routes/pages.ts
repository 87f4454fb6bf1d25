// The built pages. Every address that is none of the API's answers with the one document, whose script shows the page.
import { mkdirSync } from "node:fs";
import fastifyStatic from "@fastify/static";
import { UI_FOLDER } from "@millrace/ui/build";
import type { FastifyInstance } from "fastify";

const API = /^\/(api|auth|ui|static)(\/|$)/;

export function pageRoutes(app: FastifyInstance): void {
  // In a checkout the folder appears with the first build; serving from it must not wait for that.
  mkdirSync(UI_FOLDER, { recursive: true });
  void app.register(fastifyStatic, {
    root: UI_FOLDER,
    prefix: "/static/",
    index: false,
    preCompressed: true,
    // Names do not change with the content: ask each time, and take what is cached when it is the same.
    cacheControl: false,
    setHeaders: (reply) => void reply.header("cache-control", "no-cache"),
  });
  app.setNotFoundHandler(async (request, reply) => {
    const isPage =
      (request.method === "GET" || request.method === "HEAD") && !API.test(request.url.split("?")[0] ?? "");
    if (!isPage) return await reply.code(404).send({ detail: "There is nothing at this address." });
    return await reply.header("cache-control", "no-cache").sendFile("index.html");
  });
}
