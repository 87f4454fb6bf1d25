// That what a preview says is what an unpause, a change and the scheduler then do.
import { Dag, cronTrigger, every, events, type DagOptions } from "@millrace/sdk";
import {
  DagVersions,
  newId,
  previewDag,
  readScheduleChange,
  setPaused,
  type Database,
  type PreviewOptions,
  type Queryable,
} from "@millrace/shared/db";
import { testDatabase } from "@millrace/testkit";
import { beforeEach, describe, expect, test } from "vitest";
import { openTestDatabase, silent, testConfig } from "../dag-processor/fixtures/records.ts";
import { putDag } from "../fixtures/put-dag.ts";
import { createDueRuns } from "./create-due-runs.ts";

const database = await testDatabase();
const db: Database = openTestDatabase(database);
beforeEach(() => database.reset());

const create = async () =>
  await db.transaction(
    async (tx: Queryable) =>
      await createDueRuns({ tx, versions: new DagVersions(db), config: testConfig(), log: silent }),
  );
const runIds = async () =>
  (await db.read<{ id: string }>("select run_id as id from dag_run order by run_after")).map(({ id }) => id);

async function paused(options: DagOptions) {
  const dag = new Dag("dag", options);
  dag.task("a", () => 1)();
  await putDag(db, dag.spec());
  await db.read("update dag set is_paused = true, max_active_runs = 100");
}
const ahead = async (options: PreviewOptions = {}) => await previewDag(db, "dag", options);
const ago = (days: number) => new Date(Date.now() - days * 86_400_000);

describe("an unpause creates exactly what the preview of it said", () => {
  test.each<[string, DagOptions]>([
    ["hourly, the latest alone", { schedule: "@hourly", startDate: ago(1000) }],
    ["hourly, all of two days", { schedule: "@hourly", startDate: ago(2), catchup: true }],
    ["hourly, none", { schedule: "@hourly", startDate: ago(2), catchup: "none" }],
    ["a delta", { schedule: every({ hours: 7 }), startDate: ago(2) }],
    ["ticks in a zone", { schedule: cronTrigger("*/20 * * * *"), timezone: "Asia/Kathmandu", startDate: ago(1) }],
    ["events", { schedule: events([ago(3), ago(2), ago(-1)]), catchup: true }],
    ["once", { schedule: "@once" }],
    ["nothing", { schedule: null }],
  ])("%s", async (name, options) => {
    await paused(options);
    const held = await ahead();
    expect(held.isHeld).toBe(true);
    expect((await create()).created).toBe(0);
    const preview = await ahead({ unpause: true });
    await setPaused(db, "dag", false, "ada");
    while ((await create()).created > 0);
    const due = preview.runs.filter((run) => run.isDue);
    // What begins with the unpause takes its moment.
    if (name !== "once" && name !== "a delta") expect(await runIds()).toEqual(due.map((run) => run.runId));
    expect(await runIds()).toHaveLength(due.length);
    expect(preview.due).toBe(due.length);
  });
});

test("a change of schedule is previewed as it will be recorded, and what exists is not created again", async () => {
  await paused({ schedule: "@daily", startDate: ago(10) });
  await setPaused(db, "dag", false, "ada");
  await create();
  const [first] = await runIds();
  expect(await ahead()).toMatchObject({ due: 0, isHeld: false, total: 7 });
  const hourly = await ahead({ change: readScheduleChange({ schedule: "@hourly", timezone: "Europe/Berlin" }) });
  expect(hourly.due).toBe(0);
  expect(hourly.timezone).toBe("Europe/Berlin");
  expect(hourly.total).toBe(7 * 24);
  expect((await ahead({ change: readScheduleChange({ schedule: "none" }) })).total).toBe(0);
  expect(await runIds()).toEqual([first]);

  const next = (await ahead()).runs[0];
  await db.read(
    `insert into dag_run (dag_id, run_id, run_type, logical_date, run_after) values ('dag', $1, 'scheduled', $2, now())`,
    [newId(), new Date(next?.run.logicalDate ?? 0)],
  );
  expect(await ahead()).toMatchObject({ total: 6, runs: [{ isCreated: false }, {}, {}, {}, {}, {}, {}] });
});

test("what cannot be previewed is refused with the reason", async () => {
  await paused({ schedule: "@daily" });
  await expect(previewDag(db, "nope")).rejects.toMatchObject({ code: "DAG_NOT_FOUND" });
  await expect(ahead({ from: ago(1), until: ago(2) })).rejects.toThrow(/it ends at .*, before it starts at/);
  const change = (given: Parameters<typeof readScheduleChange>[0]) => () => readScheduleChange(given);
  expect(change({ schedule: "0 0 31 2 *" })).toThrow(/no date matches it, ever/);
  expect(change({ schedule: "@dayly" })).toThrow(/did you mean "@daily"/);
  expect(change({ schedule: "@daily", timezone: "Mars/Olympus" })).toThrow(/IANA zone like .*got "Mars\/Olympus"/);
  expect(change({ timezone: "Europe/Berlin" })).toThrow(/a timezone needs the schedule it is for/);
  expect(change({ catchup: "some" })).toThrow(/catchup must be true, false or none/);
  expect(readScheduleChange({})).toBeUndefined();
});
