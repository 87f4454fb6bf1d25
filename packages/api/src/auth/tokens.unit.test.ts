import { loadConfig } from "@millrace/shared/config";
import { afterEach, expect, test, vi } from "vitest";
import { Tokens } from "./tokens.ts";

const HOUR_MS = 3_600_000;
const { api_auth: config } = loadConfig({
  env: {},
  cwd: "/nonexistent",
  overrides: { "api_auth.jwt_secret": "shared by all processes of the API" },
});

afterEach(() => void vi.useRealTimers());

test.each([HOUR_MS, -HOUR_MS])(
  "a token that was made by a host whose clock is wrong by %i ms is taken by the others",
  async (byMs) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + byMs });
    const token = await new Tokens(config).issue({ name: "ada", role: "admin" });
    vi.useRealTimers();
    expect(await new Tokens(config).verify(token)).toEqual({ name: "ada", role: "admin" });
  },
);

test("a token ends after its lifetime", async () => {
  const tokens = new Tokens(config);
  const token = await tokens.issue({ name: "ada", role: "admin" });
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + (tokens.lifetimeSeconds + 60) * 1_000 });
  await expect(tokens.verify(token)).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
});
