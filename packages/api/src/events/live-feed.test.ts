import { fakeClock } from "@millrace/testkit";
import { beforeEach, describe, expect, test } from "vitest";
import { setPaused, type Reader } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { seedDag, seedRun } from "../fixtures/seed.ts";
import { testApi } from "../fixtures/test-api.ts";
import { LiveFeed, type LiveMessage } from "./live-feed.ts";

const { api, db, database, token } = await testApi();
const log = createLogger({ level: "silent", name: "test" });

beforeEach(async () => {
  await database.reset();
  await seedDag(db, "etl");
  await seedDag(db, "other");
  await seedRun(db, "etl", "one");
  await seedRun(db, "other", "two");
});

/** A watcher whose messages are awaited one by one. */
function collector(dagId?: string, runId?: string) {
  const messages: LiveMessage[] = [];
  let arrived: () => void = () => undefined;
  const push = (message: LiveMessage): void => {
    messages.push(message);
    arrived();
  };
  const next = async (count: number): Promise<LiveMessage[]> => {
    while (messages.length < count) await new Promise<void>((resolve) => (arrived = resolve));
    return messages.splice(0);
  };
  return { dagId, runId, push, next, messages };
}

const finish = async (runId: string) =>
  await db.read(
    "update task_instance set state = 'success', epoch = epoch + 1, updated_at = now() where run_id = $1 and task_id = 'load'",
    [runId],
  );

describe("pages that watch", () => {
  test("are told once of runs, tasks and pauses of what they watch, and nobody looks when none does", async () => {
    const clock = fakeClock();
    const feed = new LiveFeed({ db, log, clock });
    const all = collector();
    const etl = collector("etl");
    const leaving = [await feed.watch(all), await feed.watch(etl)];
    expect(clock.pending).toBe(1);

    await finish("one");
    await finish("two");
    await db.read("update dag_run set state = 'success' where run_id = 'two'");
    await setPaused(db, "etl", true, "ada");
    await clock.advance(500);
    expect(await etl.next(2)).toMatchObject([
      { event: "task_instance", data: { dag_id: "etl", dag_run_id: "one", task_id: "load", state: "success" } },
      { event: "dag", data: { dag_id: "etl", is_paused: true } },
    ]);
    expect(await all.next(2)).toMatchObject([
      { event: "run", data: { dag_id: "other", dag_run_id: "two", state: "success" } },
      { event: "dag", data: { dag_id: "etl" } },
    ]);

    await db.read("update dag_run set state = 'failed' where run_id = 'one'");
    while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(500);
    expect(await etl.next(1)).toMatchObject([{ event: "run", data: { dag_run_id: "one", state: "failed" } }]);
    expect(await all.next(1)).toHaveLength(1);

    for (const leave of leaving) leave();
    await feed.stop();
    expect([feed.watching, clock.pending]).toEqual([0, 0]);
  });

  test("that leave during a look and come back at once are looked for once, not twice", async () => {
    const clock = fakeClock();
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let reading = 0;
    const slow: Reader = {
      read: async <R>(sql: string, params?: readonly unknown[]) => {
        reading++;
        // The last read of a look.
        if (sql.includes("interval") && sql.includes("dttm")) await gate;
        return await db.read<R>(sql, params).finally(() => reading--);
      },
    };
    const untilReading = async (count: number): Promise<void> => {
      do await new Promise((resolve) => setImmediate(resolve));
      while (reading !== count);
    };
    const feed = new LiveFeed({ db: slow, log, clock });
    const leave = await feed.watch(collector());
    await clock.advance(500);
    await untilReading(1);
    leave();
    const back = feed.watch(collector());
    await untilReading(1);
    open();
    const leaveAgain = await back;
    await untilReading(0);
    expect(clock.pending).toBe(1);
    leaveAgain();
    await feed.stop();
    expect(clock.pending).toBe(0);
  });

  test("of one run are not told of another", async () => {
    const clock = fakeClock();
    const feed = new LiveFeed({ db, log, clock });
    await seedRun(db, "etl", "later");
    const page = collector("etl", "later");
    const leave = await feed.watch(page);
    await finish("one");
    await finish("later");
    await clock.advance(500);
    expect((await page.next(1)).map((message) => message.event)).toEqual(["task_instance"]);
    leave();
    await feed.stop();
  });
});

test("the stream says when it is ready, then what changes, and ends with the server", { timeout: 60_000 }, async () => {
  await api.start();
  const answer = await fetch(`${api.url}/api/v2/events?dag_id=etl`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.headers.get("content-type")).toContain("text/event-stream");
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  const first = await reader?.read();
  expect(first?.value).toBe("event: ready\ndata: {}\n\n");
  await finish("one");
  const second = await reader?.read();
  expect(second?.value).toContain('"dag_run_id":"one"');
  expect((await fetch(`${api.url}/dags/etl`)).headers.get("content-type")).toContain("text/html");
  expect((await fetch(`${api.url}/static/app.js`)).status).toBe(200);
  expect((await fetch(`${api.url}/static/..%2f..%2fpackage.json`)).status).toBeGreaterThanOrEqual(400);
  await api.stop();
  expect((await reader?.read())?.done).toBe(true);
});
