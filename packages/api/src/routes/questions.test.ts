// Questions that tasks ask people, over HTTP.
import { deferAttempts } from "@millrace/shared/db";
import { beforeEach, describe, expect, test } from "vitest";
import { seedDag, seedRun } from "../fixtures/seed.ts";
import { testApi } from "../fixtures/test-api.ts";

const { db, database, wakes, call, get } = await testApi();
const RUN = "/api/v2/dags/etl/dagRuns/one";
const ONE = `${RUN}/taskInstances/load/-1/hitlDetails`;

const ask = async (given: object = {}) => {
  const [ti] = await db.read<{ id: string; epoch: number }>(
    "select id, epoch from task_instance where task_id = 'load'",
  );
  const question = {
    subject: "Ship it?",
    options: ["yes", "no"],
    multiple: false,
    params: { note: { type: "string", maxLength: 5, default: "" } },
    assignedUsers: [],
    ...given,
  };
  await db.run(deferAttempts, [
    [ti?.id ?? ""],
    [ti?.epoch ?? 0],
    ["millrace.hitl"],
    ["{}"],
    [null],
    ["resume"],
    ["null"],
    [3600],
    [JSON.stringify(question)],
  ]);
};
const answer = async (chosen: string[], params?: object) =>
  await call("PATCH", ONE, {
    payload: { chosen_options: chosen, ...(params === undefined ? {} : { params_input: params }) },
  });
const task = async () =>
  (
    await db.read<Record<string, unknown>>(
      "select state, next_kwargs, trigger_id from task_instance where task_id = 'load'",
    )
  )[0];

beforeEach(async () => {
  await database.reset();
  await seedDag(db, "etl");
  await seedRun(db, "etl", "one");
  wakes.length = 0;
});

describe("a question", () => {
  test("is listed until it is answered, with when the task stops waiting", async () => {
    await ask();
    const list = async (query: string) =>
      (await get(`/api/v2/dags/~/dagRuns/~/hitlDetails${query}`)).json<{
        hitl_details: object[];
        total_entries: number;
      }>();
    const open = await list("?response_received=false");
    expect(open).toMatchObject({
      total_entries: 1,
      hitl_details: [
        { subject: "Ship it?", response_received: false, task_instance: { task_id: "load", state: "deferred" } },
      ],
    });
    expect((await get(ONE)).json()).toMatchObject({ options: ["yes", "no"], expires_at: expect.any(String) as string });
    await answer(["yes"]);
    expect((await list("?response_received=false")).total_entries).toBe(0);
    expect((await list("?response_received=true&order_by=-responded_at")).total_entries).toBe(1);
    expect((await get(`${ONE}/tries/2`)).json()).toMatchObject({ chosen_options: ["yes"] });
    expect((await get(`${ONE}/tries/1`)).statusCode).toBe(404);
  });

  test("that is answered lets the task go on with the answer, and wakes the schedulers", async () => {
    await ask();
    const answered = await answer(["no"], { note: "later" });
    expect([answered.statusCode, answered.json()]).toMatchObject([
      200,
      { chosen_options: ["no"], params_input: { note: "later" }, responded_by: { name: expect.any(String) as string } },
    ]);
    expect(await task()).toMatchObject({
      state: "scheduled",
      trigger_id: null,
      next_kwargs: { event: { kind: "event", payload: { chosenOptions: ["no"], paramsInput: { note: "later" } } } },
    });
    expect(wakes).toContainEqual({ dagRunId: expect.any(Number) as number, taskIds: null });
    expect(await db.read("select event, extra from log")).toEqual([{ event: "answer", extra: "chose no" }]);
    expect(await db.read("select 1 from trigger")).toEqual([]);
  });

  test("takes one answer", async () => {
    await ask();
    const answers = await Promise.all([answer(["yes"]), answer(["no"]), answer(["yes"])]);
    expect(answers.map((one) => one.statusCode).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
    expect((await answer(["no"])).json<{ detail: string }>().detail).toMatch(/answered at/);
  });

  test("of a task that no longer waits takes none", async () => {
    await ask();
    await db.read(
      "update task_instance set state = 'failed', epoch = epoch + 1, trigger_id = null where task_id = 'load'",
    );
    const late = await answer(["yes"]);
    expect([late.statusCode, late.json<{ detail: string }>().detail]).toEqual([
      409,
      expect.stringContaining("is failed"),
    ]);
  });

  test("refuses what is no answer, with every reason", async () => {
    await ask();
    const detail = async (chosen: string[], params?: object) => {
      const refused = await answer(chosen, params);
      expect(refused.statusCode).toBe(422);
      return refused.json<{ detail: string }>().detail;
    };
    expect(await detail(["maybe"], { note: "too long", other: 1 })).toBe(
      'This is no answer to load: there is no option "maybe"; the options are: yes, no; other: there is no such param; there are: note; note: must NOT have more than 5 characters.',
    );
    expect(await detail([])).toContain("choose one of: yes, no");
    expect(await detail(["yes", "no"])).toContain("only one option");
    expect((await task())?.["state"]).toBe("deferred");
  });

  test("that is asked of some is not answered by others", async () => {
    await ask({ assignedUsers: [{ id: "grace", name: "Grace" }] });
    const refused = await answer(["yes"]);
    expect([refused.statusCode, refused.json<{ detail: string }>().detail]).toEqual([
      403,
      expect.stringContaining("it asks Grace"),
    ]);
  });

  test("that was never asked is not found", async () => {
    expect((await get(ONE)).statusCode).toBe(404);
    expect((await answer(["yes"])).statusCode).toBe(404);
  });
});
