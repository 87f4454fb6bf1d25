// Large values of XComs, from the attempt that makes one to the removal of its object, whatever happens in between.
import { startObjectStore, testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { loadConfig } from "../config/index.ts";
import { openDatabase, seedDag, seedRun, seedTask } from "../db/fixtures/seed.ts";
import {
  claimAttempts,
  claimXComObjects,
  finishAttempts,
  getXCom,
  listXComs,
  newId,
  readListLengths,
  writeXCom,
} from "../db/index.ts";
import { largestXCom, XComs } from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url);
const server = await startObjectStore();
afterAll(async () => {
  await db.close();
  await server.close();
});

const configured = (overrides: Readonly<Record<string, unknown>> = {}) =>
  loadConfig({
    env: {},
    cwd: "/nonexistent",
    overrides: {
      "common_io.xcom_objectstorage_path": `s3://${server.bucket}/team`,
      "common_io.xcom_objectstorage_endpoint": server.url,
      "common_io.xcom_objectstorage_region": server.region,
      "common_io.xcom_objectstorage_access_key_id": server.accessKeyId,
      "common_io.xcom_objectstorage_secret_access_key": server.secretAccessKey,
      "common_io.xcom_objectstorage_threshold": 100,
      "common_io.xcom_objectstorage_timeout": 60,
      ...overrides,
    },
  });
const without = loadConfig({ env: {}, cwd: "/nonexistent" });
const xcoms = new XComs(db, configured());

let run: number;
beforeEach(async () => {
  await database.reset();
  server.objects.clear();
  server.faults.length = 0;
  run = await seedRun(db, await seedDag(db, "dag"), "r");
});

const LARGE = { text: "ž".repeat(60) };
const owner = (id: string) => ({ id, dagId: "dag", runId: "r", taskId: "a", mapIndex: -1 });
const key = { dagId: "dag", runId: "r", taskId: "a", key: "k" };
const running = () => seedTask(db, run, "a", { state: "running" });
const write = async (id: string, value: unknown = LARGE, name = "k") =>
  await db.run(writeXCom, [id, 5, name, await xcoms.keep(owner(id), name, value as never)]);
const held = async () => (await getXCom(db, key)).value;
const due = (what = "") => db.read<{ key: string }>(`select key from xcom_object where due_at is not null ${what}`);
const elapse = () => db.read("update xcom_object set due_at = now() - interval '1 second' where due_at is not null");

describe("a value", () => {
  test("larger than the threshold is in the store, and its row says where, how large and which checksum", async () => {
    await write(await running());
    const [stored] = [...server.objects];
    expect(JSON.parse(String(stored?.[1]))).toEqual(LARGE);
    expect(await held()).toEqual({
      $millrace: "stored",
      key: stored?.[0],
      bytes: stored?.[1].byteLength,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      shape: { text: "string" },
    });
    expect(await xcoms.resolve(await held())).toEqual(LARGE);
    expect((await listXComs(db, { ...key, taskId: "~" })).items).toMatchObject([{ bytes: 131, isStored: true }]);
  });

  test("tells how long its lists are to those who map tasks over them", async () => {
    const value = { text: "x".repeat(100), rows: [1, 2, 3], deep: { none: [] }, no: null };
    await write(await running(), value, "return_value");
    const paths = [["rows"], ["deep", "none"], ["text"], ["deep"], ["no"], ["missing"], []];
    const ask = async () =>
      await db.run(readListLengths, [
        paths.map(() => run),
        paths.map(() => "a"),
        paths.map((path) => JSON.stringify(path)),
        paths.map(() => false),
      ]);
    const found = await ask();
    expect(found.map(({ type, length }) => [type, length])).toEqual([
      ["array", 3],
      ["array", 0],
      ["string", null],
      ["object", null],
      ["null", null],
      [null, null],
      ["object", null],
    ]);
    // As of the same value in its row.
    await db.read("update xcom set value = $1", [JSON.stringify(value)]);
    expect(await ask()).toEqual(found);
  });

  test("is measured in bytes: at the threshold it is in the row", async () => {
    const id = await running();
    await write(id, "x".repeat(98));
    await write(id, "ž".repeat(49), "other");
    expect(server.objects.size).toBe(0);
    expect(await held()).toBe("x".repeat(98));
    await write(id, "x".repeat(99));
    expect(server.objects.size).toBe(1);
    expect((await listXComs(db, { ...key, key: "other" })).items).toMatchObject([{ bytes: 100, isStored: false }]);
  });

  test("of any size is in its row where no store is configured", async () => {
    const plain = new XComs(db, without);
    expect(JSON.parse(await plain.keep(owner(newId()), "k", LARGE))).toEqual(LARGE);
    expect(await plain.removeDue()).toBe(0);
    expect(largestXCom(without)).toBe(1_048_576);
    expect(largestXCom(configured())).toBe(16_777_216);
  });

  test("that claims to be in the store is refused", async () => {
    const forged = { $millrace: "stored", key: "of/another", bytes: 1, sha256: "" };
    await expect(xcoms.keep(owner(newId()), "k", forged)).rejects.toMatchObject({ code: "XCOM_IS_REFERENCE" });
    const id = await running();
    await expect(db.run(writeXCom, [id, 5, "k", JSON.stringify(forged)])).rejects.toThrow(/is not kept any more/);
  });

  test("has a key that says whose it is and that none had before, whatever the names hold", async () => {
    const odd = { id: newId(), dagId: "d/../ä b", runId: `r+${"x".repeat(300)}`, taskId: "t:1", mapIndex: 3 };
    await xcoms.keep(odd, "k?", LARGE);
    await xcoms.keep(odd, "k?", LARGE);
    const keys = [...server.objects.keys()];
    expect(new Set(keys).size).toBe(2);
    for (const made of keys)
      expect(made).toMatch(/^team\/d_\.\._+b\/r_x{98}\/t_1\/3\/[0-9a-f-]{36}\/k_-[0-9a-f-]{36}\.json$/);
  });
});

describe("reading", () => {
  test("tells that the object is gone, or is another", async () => {
    await write(await running());
    const row = await held();
    const [at = ""] = server.objects.keys();
    server.objects.set(at, Buffer.from(JSON.stringify({ text: "ž".repeat(59) + "zz" })));
    await expect(xcoms.resolve(row)).rejects.toMatchObject({ code: "XCOM_OBJECT_DAMAGED" });
    server.objects.clear();
    await expect(xcoms.resolve(row)).rejects.toMatchObject({ code: "XCOM_OBJECT_MISSING" });
  });

  test("tells a process that knows of no store", async () => {
    await write(await running());
    await expect(new XComs(db, without).resolve(await held())).rejects.toMatchObject({
      code: "XCOM_STORE_NOT_CONFIGURED",
    });
  });
});

describe("an object goes", () => {
  test("when the writer died before its row was written, a day later", async () => {
    await xcoms.keep(owner(newId()), "k", LARGE);
    expect(await due("and due_at > now() + interval '23 hours'")).toHaveLength(1);
    expect(await xcoms.removeDue()).toBe(0);
    await elapse();
    expect(await xcoms.removeDue()).toBe(1);
    expect(server.objects.size).toBe(0);
    expect(await db.read("select from xcom_object")).toEqual([]);
  });

  test("when storing it failed half way", async () => {
    server.faults.push({ status: 400, code: "InvalidArgument" });
    await expect(xcoms.keep(owner(newId()), "k", LARGE)).rejects.toMatchObject({ code: "XCOM_STORE_REFUSED" });
    await elapse();
    expect(await xcoms.removeDue()).toBe(1);
  });

  test("when its attempt was no longer the current one", async () => {
    const id = await running();
    await db.read("update task_instance set state = 'failed', epoch = epoch + 1");
    expect(await write(id)).toEqual([]);
    expect(await due()).toHaveLength(1);
  });

  test.each([
    ["its XCom is written again", "update xcom set value = '1'"],
    ["its XCom is deleted", "delete from xcom"],
    ["its run is deleted", "delete from dag_run"],
  ])("an hour after %s", async (_what, sql) => {
    await write(await running());
    expect(await due()).toEqual([]);
    await db.read(sql);
    expect(await due("and due_at between now() + interval '59 minutes' and now() + interval '1 hour'")).toHaveLength(1);
    await elapse();
    expect(await xcoms.removeDue()).toBe(1);
    expect(server.objects.size).toBe(0);
  });

  test("after the next try has started, and the new try's own stays", async () => {
    const id = await running();
    await write(id);
    await db.read("update task_instance set state = 'success', epoch = 6");
    await db.read("update task_instance set state = null, epoch = 7");
    await db.read("update task_instance set state = 'scheduled', epoch = 8, try_number = 2");
    await db.read("update task_instance set state = 'queued', epoch = 9");
    await db.run(claimAttempts, [[id], [9], [newId()], "host", "user", 42, 7]);
    const [old] = await due();
    const value = await xcoms.keep(owner(id), "return_value", LARGE);
    await db.run(finishAttempts, [[id], [10], ["success"], [null], [id], ["return_value"], [value], [null]]);
    await elapse();
    expect(await xcoms.removeDue()).toBe(1);
    expect(server.objects.has(old?.key ?? "")).toBe(false);
    expect(await xcoms.resolve((await getXCom(db, { ...key, key: "return_value" })).value)).toEqual(LARGE);
  });

  test("never while an XCom has it", async () => {
    await write(await running());
    await db.read("update xcom set timestamp = now()");
    await elapse();
    expect(await xcoms.removeDue()).toBe(0);
    expect(await xcoms.resolve(await held())).toEqual(LARGE);
  });

  test("and is taken by no XCom once it is being removed", async () => {
    const id = await running();
    const late = await xcoms.keep(owner(id), "k", LARGE);
    await elapse();
    expect(await db.run(claimXComObjects, [10])).toHaveLength(1);
    await expect(db.run(writeXCom, [id, 5, "k", late])).rejects.toThrow(/of XCom k of task a is not kept any more/);
  });

  test("once, however many remove at once, and after a remover that died", async () => {
    for (let i = 0; i < 5; i++) await xcoms.keep(owner(newId()), "k", LARGE);
    await elapse();
    await db.run(claimXComObjects, [2]);
    const removed = await Promise.all([xcoms.removeDue(), xcoms.removeDue()]);
    expect(removed[0] + removed[1]).toBe(3);
    await elapse();
    expect(await xcoms.removeDue()).toBe(2);
    expect(server.objects.size).toBe(0);
  });

  test("later, when the store does not answer now", async () => {
    await xcoms.keep(owner(newId()), "k", LARGE);
    await elapse();
    server.isDenied = true;
    await expect(xcoms.removeDue()).rejects.toMatchObject({ code: "XCOM_STORE_DENIED" });
    server.isDenied = false;
    expect(await xcoms.removeDue()).toBe(0);
    await elapse();
    expect(await xcoms.removeDue()).toBe(1);
  });
});
