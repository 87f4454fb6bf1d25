// All of Millrace as a newcomer starts it: one command, an empty folder, nothing installed.
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess, waitUntil, type MillraceProcess } from "@millrace/testkit";
import { expect, onTestFinished, test } from "vitest";

// A clean checkout builds its pages at the first start, beside whatever else the machine does.
const START_MS = 120_000;

async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "millrace-standalone-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

const start = (cwd: string, ...args: string[]): MillraceProcess =>
  startProcess({ args: ["standalone", ...args], cwd, orphanGraceMs: 10_000 });

/** The API of a standalone that is ready, as its banner says how to log in. */
async function login(standalone: MillraceProcess) {
  await standalone.waitForLine(/^Millrace is ready/, START_MS);
  const shown = async (name: string) =>
    (await standalone.waitForLine(new RegExp(`^  ${name} +\\S`))).trim().split(/ +/)[1] ?? "";
  const [url, username, password] = await Promise.all([shown("URL"), shown("User"), shown("Password")]);
  let token = "";
  const ask = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    // Every answer that is asked for here is an object.
    return (await response.json()) as Record<string, unknown>;
  };
  token = String((await ask("POST", "/auth/token", { username, password }))["access_token"]);
  return {
    url,
    password,
    get: async (path: string) => await ask("GET", path),
    post: async (path: string, body: unknown) => await ask("POST", path, body),
  };
}

const interrupt = async (standalone: MillraceProcess): Promise<void> => {
  standalone.kill("SIGINT");
  expect(await standalone.exited).toEqual({ code: 0, signal: null });
  expect(standalone.lines).toContainEqual(expect.stringMatching(/^Millrace has stopped \(\d+ ms\)/));
};

/** Another command on the database of a standalone; its lines. */
async function millrace(cwd: string, ...args: string[]): Promise<readonly string[]> {
  const kept = async (name: string) => (await readFile(join(cwd, ".millrace", name), "utf8")).trim();
  const [password, port] = await Promise.all([kept("postgres/password"), kept("postgres-port")]);
  const command = startProcess({
    args,
    cwd,
    env: {
      MILLRACE__DATABASE__URL: `postgres://millrace:${password}@127.0.0.1:${port}/millrace`,
      MILLRACE__BROKER__URL: "postgres",
      MILLRACE__LOGGING__BASE_LOG_FOLDER: join(cwd, ".millrace/logs"),
    },
  });
  const { code } = await command.exited;
  if (code !== 0) throw new Error(`millrace ${args.join(" ")} ended with ${code}:\n${command.lines.join("\n")}`);
  await command.dispose();
  return command.lines;
}

test("a standalone runs the examples, stops without leaving a process, and goes on where it was", async () => {
  const cwd = await folder();
  const first = start(cwd, "--port", "0");
  const api = await login(first);

  await waitUntil(async () => await api.get("/api/v2/dags/hello"), { what: "hello was read", timeoutMs: 60_000 });
  await api.post("/api/v2/dags/hello/dagRuns", { dag_run_id: "mine", logical_date: null });
  await waitUntil(async () => (await api.get("/api/v2/dags/hello/dagRuns/mine"))["state"] === "success", {
    what: "the run succeeded",
    timeoutMs: 60_000,
  });
  expect(await (await fetch(api.url)).text()).toContain("<html");
  expect((await stat(join(cwd, ".millrace/admin-password"))).mode & 0o777).toBe(0o600);
  const health = await api.get("/api/v2/monitor/health");
  for (const part of ["metadatabase", "scheduler", "triggerer", "dag_processor"]) {
    expect(health[part]).toMatchObject({ status: "healthy" });
  }

  const triggered = await millrace(cwd, "dags", "trigger", "hello", "-r", "typed", "--wait");
  expect(triggered.at(-1)).toMatch(/^typed: success after/);
  expect((await millrace(cwd, "tasks", "logs", "hello", "say", "typed")).join("\n")).toContain("Hello from typed");

  const second = start(cwd, "--port", "0");
  expect(await second.exited).toEqual({ code: 1, signal: null });
  expect(second.lines.join("\n")).toMatch(/A standalone is running on .*\.millrace already \(process \d+\)/);

  await interrupt(first);
  await first.dispose();

  const again = start(cwd, "--port", "0", "--quiet");
  const later = await login(again);
  expect(later.password).toBe(api.password);
  expect(await later.get("/api/v2/dags/hello/dagRuns/mine")).toMatchObject({ state: "success" });
  await interrupt(again);
}, 400_000);

test("a standalone that is killed outright leaves nothing, and starts again", async () => {
  const cwd = await folder();
  const first = start(cwd, "--port", "0", "--quiet");
  await first.waitForLine(/^Millrace is ready/, START_MS);
  await first.dispose();
  const again = start(cwd, "--port", "0", "--quiet");
  await again.waitForLine(/^Millrace is ready/, START_MS);
  await interrupt(again);
}, 400_000);

test("a signal while it starts ends it cleanly", async () => {
  const standalone = start(await folder(), "--port", "0");
  await standalone.waitForLine(/^Millrace is starting/, START_MS);
  standalone.kill("SIGTERM");
  expect(await standalone.exited).toEqual({ code: 0, signal: null });
}, 200_000);

test("a port that somebody else has is told before anything is started", async () => {
  const cwd = await folder();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const standalone = start(cwd, "--port", String(port));
  expect(await standalone.exited).toEqual({ code: 1, signal: null });
  expect(standalone.lines.join("\n")).toContain(`Something listens on 127.0.0.1:${port} already`);
  await expect(readFile(join(cwd, ".millrace/postgres/password"))).rejects.toThrow("ENOENT");
}, 60_000);
