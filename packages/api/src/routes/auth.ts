import { AppError } from "@millrace/shared/errors";
import type { FastifyRequest } from "fastify";
import { COOKIE, requireSameOrigin } from "../auth/guard.ts";
import { LoginThrottle } from "../auth/login-throttle.ts";
import { Passwords } from "../auth/passwords.ts";
import type { Tokens, User } from "../auth/tokens.ts";
import type { App, Context } from "../http/app.ts";
import { AccessToken, Credentials, Me } from "../schemas/operations.ts";

export function authRoutes(app: App, { config, clock, log }: Context, tokens: Tokens): void {
  const passwords = new Passwords(config.api_auth);
  const throttle = new LoginThrottle(clock);

  const logIn = async (request: FastifyRequest, username: string, password: string): Promise<User> => {
    const succeeded = throttle.begin(request.ip, username);
    const user = await passwords.check(username, password);
    if (user === undefined) {
      log.warn({ address: request.ip, user: username }, "a login failed");
      throw new AppError("AUTH_FAILED");
    }
    succeeded();
    return user;
  };

  // For programs.
  app.post(
    "/auth/token",
    { config: { public: true }, schema: { body: Credentials, response: { 201: AccessToken } } },
    async (request, reply) => {
      const user = await logIn(request, request.body.username, request.body.password);
      return await reply.code(201).send({ access_token: await tokens.issue(user) });
    },
  );

  // For our pages: the token stays in a cookie that scripts cannot read.
  app.post("/ui/auth/login", { config: { public: true }, schema: { body: Credentials } }, async (request, reply) => {
    requireSameOrigin(request);
    const user = await logIn(request, request.body.username, request.body.password);
    void reply.setCookie(COOKIE, await tokens.issue(user), {
      path: "/",
      httpOnly: true,
      sameSite: "strict",
      secure: request.protocol === "https",
      maxAge: tokens.lifetimeSeconds,
    });
    return await reply.code(204).send();
  });

  app.post("/ui/auth/logout", { config: { public: true } }, async (request, reply) => {
    requireSameOrigin(request);
    return await reply.clearCookie(COOKIE, { path: "/" }).code(204).send();
  });

  app.get("/ui/auth/me", { schema: { response: { 200: Me } } }, (request) => ({
    username: request.user?.name ?? "",
    role: request.user?.role ?? "",
  }));
}
