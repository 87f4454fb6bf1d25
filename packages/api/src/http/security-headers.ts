import type { FastifyInstance } from "fastify";

// Our pages load only what we serve, run no inline script, and are framed by nobody: a text of a user that slipped
// through as markup could do nothing. Styles are one file too; React sets single properties by script, which is allowed.
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

export const SECURITY_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
} as const;

/** Set at the very beginning, so that refusals, errors and streams carry them too. */
export function secure(app: FastifyInstance): void {
  app.addHook("onRequest", async (_request, reply) => {
    void reply.headers(SECURITY_HEADERS).header("cache-control", "no-store");
  });
}
