// Every route needs a user unless it says `config: { public: true }`. A bearer token wins over the cookie; with the
// cookie, which a browser sends whoever made it ask, a change must come from our own pages.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "@millrace/shared/errors";
import type { Tokens, User } from "./tokens.ts";

export const COOKIE = "_token";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Answers without a user. */
    readonly public?: boolean;
  }
  interface FastifyRequest {
    user: User | null;
    /** The request carries the cookie of our pages, not a token of a program. */
    fromUi: boolean;
  }
}

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

export function guard(app: FastifyInstance, tokens: Tokens): void {
  app.decorateRequest("user", null);
  app.decorateRequest("fromUi", false);
  app.addHook("onRequest", async (request) => {
    if (request.is404 || request.routeOptions.config.public === true) return;
    const bearer = bearerOf(request);
    const cookie = request.cookies[COOKIE];
    if (bearer !== undefined) {
      request.user = await tokens.verify(bearer);
    } else if (cookie !== undefined && cookie !== "") {
      request.user = await tokens.verify(cookie);
      request.fromUi = true;
      if (!SAFE.has(request.method)) requireSameOrigin(request);
    } else {
      throw new AppError("AUTH_REQUIRED");
    }
  });
}

function bearerOf(request: FastifyRequest): string | undefined {
  const [scheme, token] = (request.headers.authorization ?? "").split(" ");
  return scheme?.toLowerCase() === "bearer" && token !== undefined && token !== "" ? token : undefined;
}

/**
 * Browsers say where a request comes from; one that says nothing is not from our pages.
 * @throws AppError ORIGIN_REFUSED
 */
export function requireSameOrigin(request: FastifyRequest): void {
  const site = request.headers["sec-fetch-site"];
  if (site === "same-origin") return;
  if (site === undefined && originHost(request.headers.origin) === request.headers.host) return;
  throw new AppError("ORIGIN_REFUSED");
}

function originHost(origin: string | undefined): string | null {
  try {
    return origin === undefined ? null : new URL(origin).host;
  } catch {
    return null;
  }
}

/** The name to write down for a change. */
export const userName = (request: FastifyRequest): string => request.user?.name ?? "anonymous";
