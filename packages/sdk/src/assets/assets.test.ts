import { describe, expect, test } from "vitest";
import { Dag } from "../authoring/dag.ts";
import { every } from "../authoring/schedules.ts";
import { readDag } from "../reading/read-dag.ts";
import { registeredDags } from "../authoring/registry.ts";
import { Asset, AssetAlias } from "./asset.ts";
import { allOf, anyOf, assetOrTime, partitionedAssets, startOf } from "./conditions.ts";
import { normalizeUri } from "./normalize-uri.ts";

let count = 0;
function read(schedule: unknown, task: object = {}) {
  const dag = new Dag(`d${count++}`, { schedule: schedule as null });
  dag.task("t", () => undefined, task)();
  const definition = registeredDags().at(-1);
  if (definition === undefined) throw new Error("nothing was declared");
  const { structure, problems } = readDag(definition);
  return { spec: structure?.spec, problems: problems.map((problem) => problem.message) };
}

const orders = new Asset({ name: "orders", uri: "S3://lake/orders/" });
const refunds = new Asset({ name: "refunds" });

describe("a schedule of assets", () => {
  test("is one, several of which all have to come, or a condition", () => {
    const order = { asset: { name: "orders", uri: "s3://lake/orders", group: "asset" } };
    const refund = { asset: { name: "refunds", uri: "refunds", group: "asset" } };
    expect(read(orders).spec?.schedule).toEqual({ kind: "assets", assets: order });
    expect(read([orders, refunds]).spec?.schedule).toEqual({ kind: "assets", assets: { all: [order, refund] } });
    expect(
      read(anyOf(orders, allOf(refunds, new AssetAlias("x"), Asset.ref({ uri: "s3://b/" })))).spec?.schedule,
    ).toEqual({
      kind: "assets",
      assets: {
        any: [order, { all: [refund, { alias: { name: "x", group: "asset" } }, { ref: { uri: "s3://b/" } }] }],
      },
    });
  });

  test("goes together with one by time", () => {
    expect(read(assetOrTime({ schedule: "0 6 * * *", assets: [orders] })).spec?.schedule).toMatchObject({
      kind: "assetOrTime",
      time: { kind: "cron", cron: "0 6 * * *" },
      assets: { asset: { name: "orders" } },
    });
    expect(read(assetOrTime({ schedule: every({ hours: 1 }), assets: orders })).problems).toEqual([]);
    expect(read(assetOrTime({ schedule: orders as never, assets: orders })).problems[0]).toMatch(
      /assetOrTime\(…\) needs a schedule by time, got an object/,
    );
  });

  test("can be by key", () => {
    expect(read(partitionedAssets({ assets: orders, mapper: startOf("day") })).spec?.schedule).toMatchObject({
      partition: { mapper: { kind: "startOf", unit: "day" }, mappers: [] },
    });
    expect(read(partitionedAssets({ assets: orders, mapper: startOf("eon" as "day") })).problems[0]).toMatch(
      /unit must be one of/,
    );
  });

  test.each([
    [[], "the array needs one asset or more"],
    [allOf(), "allOf(…) needs one asset or more"],
    [anyOf("orders" as never), 'must be an asset, Asset.ref(…) or an alias, got "orders"'],
    [new Asset({}), "give a name, a uri, or both"],
    [new Asset({ name: "ä" }), "name must be a string of 1 to 1500 printable ASCII characters"],
    [new Asset({ name: "self" }), 'name must not be "self" or "context"'],
    [new Asset({ uri: "airflow://x" }), 'must not have the reserved scheme "airflow"'],
    [new Asset({ name: "x", extra: { at: new Date() as never } }), "extra cannot be stored: $.at is a Date"],
    [new Asset({ name: "x", watchers: [{ name: "w", trigger: 1 as never }] }), "trigger must be a trigger, got 1"],
    [Asset.ref(" "), "Asset.ref(…): name must be a string"],
  ])("says what is wrong with it (%#)", (schedule, message) => {
    expect(read(schedule).problems.join("\n")).toContain(message);
  });
});

test("outlets and inlets are data of the task, and a task without them says nothing of them", () => {
  const { spec } = read(null, { outlets: orders, inlets: [Asset.ref("x"), new AssetAlias("y")] });
  expect(spec?.tasks[0]).toMatchObject({
    outlets: [{ asset: { name: "orders" } }],
    inlets: [{ ref: { name: "x" } }, { alias: { name: "y", group: "asset" } }],
  });
  expect(read(null).spec?.tasks[0]).not.toHaveProperty("outlets");
  expect(read(null, { outlets: ["orders"] }).problems[0]).toContain(
    "outlets must be an asset, Asset.ref(…) or an alias",
  );
});

test.each([
  ["S3://User:secret@bucket/key/", "s3://bucket/key"],
  ["s3://bucket", "s3://bucket/"],
  ["http://h/p?b=2&a=1#part", "http://h/p?a=1&b=2"],
  ["x-own://Any Thing/#a", "x-own://Any Thing/#a"],
  ["no uri", "no uri"],
])("the uri %s becomes %s", (given, expected) => {
  expect(normalizeUri(given)).toBe(expected);
});
