import { fakeClock } from "@millrace/testkit";
import { SignJWT, UnsecuredJWT } from "jose";
import { beforeEach, describe, expect, test } from "vitest";
import { PASSWORD, testApi } from "../fixtures/test-api.ts";

const SECRET = "a secret that signs the tokens of this test";
const clock = fakeClock();
const { api, db, database, token, get } = await testApi({ clock, config: { "api_auth.jwt_secret": SECRET } });

beforeEach(async () => {
  await database.reset();
  await clock.advance(61_000);
});

const logIn = async (payload: object, url = "/auth/token", headers: Record<string, string> = {}) =>
  await api.inject({ method: "POST", url, payload, headers });
const good = { username: "admin", password: PASSWORD };
const bad = { username: "admin", password: "guess" };
const me = async (bearer: string) =>
  (await api.inject({ url: "/ui/auth/me", headers: { authorization: `Bearer ${bearer}` } })).statusCode;

describe("every route", () => {
  test("refuses without a token, except the few that say they are public", async () => {
    const publicRoutes = api.routes.filter((route) => route.public).map((route) => `${route.method} ${route.url}`);
    expect(publicRoutes.sort()).toEqual([
      "GET /api/v2/monitor/health",
      "GET /api/v2/version",
      "HEAD /api/v2/monitor/health",
      "HEAD /api/v2/version",
      "POST /auth/token",
      "POST /ui/auth/login",
      "POST /ui/auth/logout",
    ]);
    const guarded = api.routes.filter((route) => !route.public && !route.url.startsWith("/static/"));
    expect(guarded.length).toBeGreaterThan(30);
    for (const { method, url } of guarded) {
      const path = url.replace(/:\w+/g, "1");
      const answer = await api.inject({ method: method as "GET", url: path });
      expect([method, url, answer.statusCode]).toEqual([method, url, 401]);
      const forged = await api.inject({
        method: method as "GET",
        url: path,
        headers: { authorization: "Bearer x.y.z" },
      });
      expect([method, url, forged.statusCode]).toEqual([method, url, 403]);
    }
  });
});

describe("a token", () => {
  const claims = (lifetime = "1h") =>
    new SignJWT({ role: "admin" }).setSubject("admin").setJti("1").setIssuedAt().setExpirationTime(lifetime);
  const key = new TextEncoder().encode(SECRET);

  test("is good when this server or one with its key made it", async () => {
    expect(await me(token)).toBe(200);
    const own = claims().setIssuer("millrace").setAudience("urn:millrace:api").setProtectedHeader({ alg: "HS512" });
    expect(await me(await own.sign(key))).toBe(200);
  });

  test("is refused with another algorithm, audience, issuer or key, and without a signature", async () => {
    const ours = () => claims().setIssuer("millrace").setAudience("urn:millrace:api");
    const other = new TextEncoder().encode("another secret that is quite as long as it");
    const tokens = [
      await ours().setProtectedHeader({ alg: "HS256" }).sign(key),
      await ours().setProtectedHeader({ alg: "HS512" }).sign(other),
      await ours().setAudience("urn:else").setProtectedHeader({ alg: "HS512" }).sign(key),
      await ours().setIssuer("else").setProtectedHeader({ alg: "HS512" }).sign(key),
      new UnsecuredJWT({ role: "admin" }).setSubject("admin").setExpirationTime("1h").encode(),
    ];
    for (const each of tokens) expect(await me(each)).toBe(403);
  });

  test("that has expired asks for a new login", async () => {
    const old = claims("-1m").setIssuer("millrace").setAudience("urn:millrace:api");
    expect(await me(await old.setProtectedHeader({ alg: "HS512" }).sign(key))).toBe(401);
  });
});

describe("a login", () => {
  test("gives a token for the right password only", async () => {
    expect((await logIn(good)).statusCode).toBe(201);
    const refused = [await logIn(bad), await logIn({ username: "nobody", password: PASSWORD })];
    expect(refused.map((answer) => answer.statusCode)).toEqual([401, 401]);
    expect(refused[0]?.body).toBe(refused[1]?.body);
    expect((await logIn({ username: "admin" })).statusCode).toBe(422);
    expect((await logIn({ ...good, role: "admin" })).statusCode).toBe(422);
  });

  test("is throttled after ten failures a minute, sent one by one or at once", async () => {
    const failures = await Promise.all(Array.from({ length: 14 }, () => logIn(bad)));
    expect(failures.filter((answer) => answer.statusCode === 401)).toHaveLength(10);
    expect(failures.filter((answer) => answer.statusCode === 429)).toHaveLength(4);
    expect((await logIn(good)).statusCode).toBe(429);
    await clock.advance(61_000);
    expect((await logIn(good)).statusCode).toBe(201);
  });

  test("is not counted when it succeeds", async () => {
    for (let i = 0; i < 12; i++) expect((await logIn(good)).statusCode).toBe(201);
  });
});

describe("the cookie of our pages", () => {
  const page = { "sec-fetch-site": "same-origin" };

  test("is out of reach of scripts and other sites", async () => {
    const answer = await logIn(good, "/ui/auth/login", page);
    expect(answer.statusCode).toBe(204);
    expect(answer.cookies).toMatchObject([{ name: "_token", httpOnly: true, sameSite: "Strict", path: "/" }]);
    expect((await logIn(good, "/ui/auth/login", { "sec-fetch-site": "cross-site" })).statusCode).toBe(403);
    const out = await api.inject({ method: "POST", url: "/ui/auth/logout", headers: page });
    expect(out.cookies).toMatchObject([{ name: "_token", value: "" }]);
  });

  test("reads anywhere, but changes only from our own origin", async () => {
    await db.read(
      `insert into dag (dag_id, is_paused, bundle_name, max_active_tasks, max_active_runs) values ('etl', false, 'dags-folder', 1, 1)`,
    );
    const patch = async (headers: Record<string, string>) =>
      (
        await api.inject({
          method: "PATCH",
          url: "/api/v2/dags/etl",
          payload: { is_paused: true },
          cookies: { _token: token },
          headers: { host: "millrace.test", ...headers },
        })
      ).statusCode;
    expect((await api.inject({ url: "/api/v2/dags/etl", cookies: { _token: token } })).statusCode).toBe(200);
    expect(await patch({})).toBe(403);
    expect(await patch({ "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await patch({ "sec-fetch-site": "same-site", origin: "http://millrace.test" })).toBe(403);
    expect(await patch({ origin: "http://evil.test" })).toBe(403);
    expect(await patch({ origin: "null" })).toBe(403);
    expect(await patch({ origin: "http://millrace.test" })).toBe(200);
    expect(await patch(page)).toBe(200);
  });
});

test("answers carry the headers that keep a browser safe", async () => {
  for (const answer of [
    await get("/api/v2/dags"),
    await api.inject("/api/v2/dags"),
    await api.inject("/nowhere/api"),
  ]) {
    expect(answer.headers).toMatchObject({
      "content-security-policy": expect.stringContaining("default-src 'none'"),
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
  }
});
