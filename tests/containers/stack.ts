// deploy/compose.yaml with an image built from this checkout, under a name, a port and passwords of its own.
import { randomBytes } from "node:crypto";
import { chmod, cp, mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { waitUntil } from "@millrace/testkit";
import type { Engine, Environment } from "./engine.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
export const COMPOSE_FILE = join(ROOT, "deploy/compose.yaml");
const FASTER = fileURLToPath(new URL("faster.yaml", import.meta.url));
const IMAGE = "millrace:test";

/** What the API answers: an object. */
type Answer = Readonly<Record<string, unknown>>;

export interface Stack {
  compose(...args: string[]): Promise<string>;
  docker(...args: string[]): Promise<string>;
  get(path: string): Promise<Answer>;
  post(path: string, body: unknown): Promise<Answer>;
  /** Waits until the run has ended and gives its state. */
  ended(dagId: string, runId: string): Promise<unknown>;
  remove(): Promise<void>;
}

export async function openStack(engine: Engine): Promise<Stack> {
  await engine.docker(["build", "--file", join(ROOT, "deploy/Dockerfile"), "--tag", IMAGE, ROOT]);
  const dags = await mkdtemp(join(tmpdir(), "millrace-containers-"));
  await cp(join(ROOT, "examples/hello.ts"), join(dags, "hello.ts"));
  await cp(join(ROOT, "tests/containers/dags/slow.ts"), join(dags, "slow.ts"));
  await chmod(dags, 0o755);
  const port = await freePort();
  const password = randomBytes(12).toString("hex");
  const env: Environment = {
    COMPOSE_PROJECT_NAME: `millrace-test-${process.pid}`,
    MILLRACE_IMAGE: IMAGE,
    MILLRACE_DAGS: dags,
    MILLRACE_PORT: String(port),
    MILLRACE_ADMIN_PASSWORD: password,
    MILLRACE_JWT_SECRET: randomBytes(32).toString("hex"),
    POSTGRES_PASSWORD: randomBytes(24).toString("hex"),
  };
  const compose = async (...args: string[]) => await engine.compose(["-f", COMPOSE_FILE, "-f", FASTER, ...args], env);
  const stack = { compose, docker: async (...args: string[]) => await engine.docker(args) };
  const remove = async () => {
    await compose("down", "--volumes", "--timeout", "5");
    await rm(dags, { recursive: true, force: true });
  };
  try {
    await compose("up", "--detach", "--no-build");
    const base = `http://127.0.0.1:${port}`;
    const headers = await logIn(base, password);
    const get = async (path: string) => await ask(base + path, { headers });
    return {
      ...stack,
      get,
      post: async (path, body) => await ask(base + path, { method: "POST", headers, body: JSON.stringify(body) }),
      ended: async (dagId, runId) =>
        await waitUntil(
          async () => {
            const { state } = await get(`/api/v2/dags/${dagId}/dagRuns/${runId}`);
            return state === "success" || state === "failed" ? state : undefined;
          },
          { what: `run ${runId} of ${dagId} has ended`, timeoutMs: 90_000, intervalMs: 200 },
        ),
      remove,
    };
  } catch (error) {
    console.error(await compose("logs", "--no-color", "--tail", "30").catch(String));
    await remove();
    throw error;
  }
}

async function logIn(base: string, password: string): Promise<Record<string, string>> {
  const json = { "content-type": "application/json" };
  const body = JSON.stringify({ username: "admin", password });
  const answer = await waitUntil(async () => await ask(`${base}/auth/token`, { method: "POST", headers: json, body }), {
    what: "the API lets the administrator in",
    timeoutMs: 120_000,
    intervalMs: 500,
  });
  return { ...json, authorization: `Bearer ${String(answer["access_token"])}` };
}

async function ask(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer; // every route that is asked here answers with an object
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // of a TCP server
  await new Promise((resolve) => server.close(resolve));
  return port;
}
