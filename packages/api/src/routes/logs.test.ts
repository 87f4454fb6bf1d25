import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { attemptLogPath } from "@millrace/shared/observability";
import { beforeEach, describe, expect, test } from "vitest";
import { seedDag, seedRun } from "../fixtures/seed.ts";
import { testApi } from "../fixtures/test-api.ts";
import type { LogPage } from "../types/index.ts";

const { db, database, logs, get } = await testApi();
const BASE = "/api/v2/dags/etl/dagRuns/one/taskInstances";

beforeEach(async () => {
  await database.reset();
  await seedDag(db, "etl");
  await seedRun(db, "etl", "one");
});

const line = (event: string) =>
  JSON.stringify({ timestamp: "2026-01-01T00:00:00.000Z", level: "info", logger: "task", event });

async function writeLog(taskId: string, tryNumber: number, content: string): Promise<string> {
  const path = attemptLogPath(logs, { dagId: "etl", runId: "one", taskId, mapIndex: -1, tryNumber });
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return path;
}

async function readAll(url: string): Promise<{ events: string[]; pages: number; open: boolean }> {
  const events: string[] = [];
  let token: string | null = "0";
  let before = "";
  let pages = 0;
  while (token !== null && token !== before) {
    before = token;
    const page: LogPage = (await get(`${url}?token=${token}`)).json<LogPage>();
    events.push(...page.content.map((each) => each.event));
    token = page.continuation_token;
    pages++;
  }
  return { events, pages, open: token !== null };
}

describe("a log", () => {
  test("of a finished try ends; of a running one goes on without its half line", async () => {
    await writeLog("extract", 1, `${line("one")}\n${line("two")}`);
    expect(await readAll(`${BASE}/extract/logs/1`)).toMatchObject({ events: ["one", "two"], open: false });
    await writeLog("load", 2, `${line("one")}\n${line("tw").slice(0, 20)}`);
    expect(await readAll(`${BASE}/load/logs/2`)).toMatchObject({ events: ["one"], open: true });
  });

  test("longer than a page comes in pages, none lost and none twice", async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `${i} ${"ü".repeat(i % 40)}`);
    await writeLog("extract", 1, lines.map((text) => `${line(text)}\n`).join(""));
    const { events, pages } = await readAll(`${BASE}/extract/logs/1`);
    expect(events).toEqual(lines);
    expect(pages).toBeGreaterThan(5);
    const tail = (await get(`${BASE}/extract/logs/1?tail=true`)).json<LogPage>();
    expect(tail.content.at(-1)?.event).toBe(lines.at(-1));
    expect(tail.content.length).toBeLessThan(lines.length);
    expect(tail.start).toBeGreaterThan(0);
  });

  test("with a line longer than a page is read to its end", async () => {
    await writeLog("extract", 1, `${"é".repeat(300_000)}\n${line("after")}\n`);
    const { events } = await readAll(`${BASE}/extract/logs/1`);
    expect(events.at(-1)).toBe("after");
    expect(events.slice(0, -1).join("")).toBe("é".repeat(300_000));
  });

  test("is JSON, NDJSON or text, as asked for", async () => {
    await writeLog("extract", 1, `${line("one")}\nnot json\n`);
    const url = `${BASE}/extract/logs/1`;
    expect((await get(url)).json<LogPage>().content).toEqual([
      { timestamp: "2026-01-01T00:00:00.000Z", level: "info", logger: "task", event: "one" },
      { event: "not json" },
    ]);
    const text = await get(url, { accept: "text/plain" });
    expect(text.body).toBe("[2026-01-01T00:00:00.000Z] INFO - one\nnot json\n");
    const whole = await get(`${url}?full_content=true`, { accept: "application/x-ndjson" });
    expect(whole.body).toBe(`${line("one")}\nnot json\n`);
    expect((await get(url, { accept: "application/x-ndjson" })).headers["airflow-continuation-token"]).toBeUndefined();
  });

  test("that is not there is empty while its try runs, and 404 afterwards", async () => {
    await writeLog("load", 1, "");
    expect((await get(`${BASE}/load/logs/9`)).statusCode).toBe(404);
    const gone = await get(`${BASE}/nope/logs/1`);
    expect(gone.statusCode).toBe(404);
    expect((await get("/api/v2/dags/etl/dagRuns/one/taskInstances/extract/logs/1?map_index=2")).statusCode).toBe(404);
  });

  test.each(["token=-1", "token=x", "token=99999999999999999999", "map_index=a", "tail=perhaps"])(
    "is refused with ?%s",
    async (query) => {
      expect((await get(`${BASE}/extract/logs/1?${query}`)).statusCode).toBe(422);
    },
  );

  test("past its end is empty", async () => {
    await writeLog("extract", 1, `${line("one")}\n`);
    expect((await get(`${BASE}/extract/logs/1?token=999999`)).json<LogPage>().content).toEqual([]);
  });
});

describe("a path that tries to leave the folder", () => {
  const corpus = [
    "..",
    "%2e%2e",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e%2f",
    "..%5c..%5c",
    "%252e%252e%252f",
    "%00",
    "%2fetc%2fpasswd",
    "etl%00.log",
  ];

  test.each(corpus)("finds nothing: %s", async (evil) => {
    for (const url of [
      `/api/v2/dags/${evil}/dagRuns/one/taskInstances/extract/logs/1`,
      `/api/v2/dags/etl/dagRuns/${evil}/taskInstances/extract/logs/1`,
      `${BASE}/${evil}/logs/1`,
      `${BASE}/extract/logs/${evil}`,
    ]) {
      const answer = await get(url);
      expect([404, 422]).toContain(answer.statusCode);
      expect(answer.body).not.toContain(logs);
      expect(answer.body).not.toContain("root:");
    }
  });

  test("through a link, of the file or its folder, finds nothing", async () => {
    const path = attemptLogPath(logs, { dagId: "etl", runId: "one", taskId: "load", mapIndex: -1, tryNumber: 1 });
    await mkdir(dirname(path), { recursive: true });
    await symlink("/etc/passwd", join(dirname(path), "attempt=7.log"));
    await db.read("update task_instance set try_number = 8, epoch = epoch + 1 where task_id = 'load'");
    expect((await get(`${BASE}/load/logs/7`)).statusCode).toBe(404);
    await symlink("/etc", join(dirname(path), "..", "task_id=linked"));
    await db.read("update task_instance set task_id = 'linked' where task_id = 'extract'");
    const linked = await get(`${BASE}/linked/logs/1`);
    // Its try succeeded, so there is a line about that, and nothing of what the link leads to.
    expect(linked.json<LogPage>().content.map((line) => line.event)).toEqual([
      expect.stringMatching(/^try 1 succeeded on .* and printed nothing$/),
    ]);
  });

  test("of a try that succeeded and said nothing is one line, in every form", async () => {
    const url = `${BASE}/extract/logs/1`;
    await rm(attemptLogPath(logs, { dagId: "etl", runId: "one", taskId: "extract", mapIndex: -1, tryNumber: 1 }), {
      force: true,
    });
    expect((await get(url)).json<LogPage>()).toMatchObject({ continuation_token: null, content: [{ level: "info" }] });
    for (const accept of ["text/plain", "application/x-ndjson"]) {
      expect((await get(url, { accept })).body).toContain("printed nothing");
    }
  });
});
