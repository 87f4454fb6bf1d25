import { collect, concat, Dag, getContext, SkipTask, zip, zipLongest, type LazyList } from "../../index.ts";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";

const statesOf = (tasks: Readonly<Record<string, { readonly state: string }>>) =>
  Object.fromEntries(Object.entries(tasks).map(([name, { state }]) => [name, state]));

test("a mapped task has one instance for each element, and its value is the list of theirs", async () => {
  const dag = new Dag("squares");
  const numbers = dag.task("numbers", () => [1, 2, 3])();
  const square = dag.task("square", ({ n, plus }: { n: number; plus: number }) => n * n + plus);
  const squares = square.partial({ plus: 1 }).expand({ n: numbers });
  dag.task("sum", ({ all }: { all: number[] }) => all.reduce((sum, n) => sum + n, 0))({ all: squares });
  const { state, tasks } = await dag.test();
  expect(state).toBe("success");
  expect(statesOf(tasks)).toEqual({
    numbers: "success",
    "square[0]": "success",
    "square[1]": "success",
    "square[2]": "success",
    sum: "success",
  });
  expect(tasks["square[2]"]?.value).toBe(10);
  expect(tasks["sum"]?.value).toBe(17);
});

test("several lists are combined in the order in which they are given, and the last varies fastest", async () => {
  const dag = new Dag("product");
  const seen: string[] = [];
  const name = ({ a, b }: { a: string; b: number }) => void (seen[getContext().mapIndex] = `${a}${b}`);
  dag.task("name", name).expand({ a: ["x", "y"], b: [1, 2, 3] });
  expect((await dag.test()).state).toBe("success");
  expect(seen).toEqual(["x1", "x2", "x3", "y1", "y2", "y3"]);
});

test("lists can be zipped, padded and put one after the other", async () => {
  const dag = new Dag("combined");
  const more = dag.task("more", () => [30, 40])();
  const pairs = dag
    .task("pair", ({ pair }: { pair: [string, number] }) => pair.join(""))
    .expand({
      pair: zip(["a", "b", "c"], more),
    });
  const long = dag
    .task("long", ({ pair }: { pair: [string | null, number | null] }) => pair)
    .expand({
      pair: zipLongest(null, ["a", "b", "c"], more),
    });
  const all = dag.task("one", ({ n }: { n: number }) => n).expand({ n: concat([10, 20], more) });
  dag.task("end", (given: { pairs: string[]; long: unknown[]; all: number[] }) => given)({ pairs, long, all });
  expect((await dag.test()).tasks["end"]?.value).toEqual({
    pairs: ["a30", "b40"],
    long: [
      ["a", 30],
      ["b", 40],
      ["c", null],
    ],
    all: [10, 20, 30, 40],
  });
});

test("expandKwargs gives each instance an object of arguments, of which none may be given twice", async () => {
  const dag = new Dag("kwargs");
  const jobs = dag.task("jobs", () => [
    { file: "a", rows: 1 },
    { file: "b", rows: 2 },
  ])();
  const load = ({ file, rows }: { file: string; rows: number }) => `${file}${rows}`;
  dag.task("load", load).expandKwargs(jobs);
  dag.task("strict", load).partial({ rows: 9 }).expandKwargs(jobs);
  dag.task("loose", load).partial({ rows: 9 }).expandKwargs(jobs, { strict: false });
  const { tasks } = await dag.test();
  expect([tasks["load[0]"]?.value, tasks["load[1]"]?.value, tasks["loose[1]"]?.value]).toEqual(["a1", "b2", "b2"]);
  expect(tasks["strict[0]"]?.error?.message).toMatch(/"rows" is in partial/);
});

test("expandKwargs takes objects of any keys, and nothing else that is kept as an object", async () => {
  const dag = new Dag("odd_kwargs");
  const jobs = dag.task("jobs", () => [{ $millrace: "date", at: new Date(0) }, new Map([["at", 1]]), new Date(0)])();
  dag
    .task("load", (all: object) => inspect(all))
    .partial({ table: "t" })
    .expandKwargs(jobs as never);
  const group = dag.taskGroup("g");
  const job = group.expandKwargs<{ at: Date }>(jobs as never);
  group.task("in_group", (all: object) => inspect(all))({ at: job.get("at"), whole: job });
  const { tasks } = await dag.test();
  const first = { $millrace: "date", at: new Date(0) };
  expect(tasks["load[0]"]?.value).toBe(inspect({ table: "t", ...first }));
  expect(tasks["g.in_group[0]"]?.value).toBe(inspect({ at: new Date(0), whole: first }));
  for (const name of ["load[1]", "load[2]", "g.in_group[1]"]) {
    expect(tasks[name]?.error?.message).toContain("is no object of arguments");
  }
  const literal = new Dag("odd_literal");
  literal.task("load", (all: object) => all).expandKwargs([{ at: 1 }, new Date(0)] as never);
  expect(() => literal.spec()).toThrow("expandKwargs(…) takes a list of objects of arguments, but number 1 is");
});

describe("what is mapped over", () => {
  test("an empty list skips the task, and what follows gets an empty list if it runs at all", async () => {
    const dag = new Dag("empty");
    const none = dag.task("none", (): number[] => [])();
    const mapped = dag.task("mapped", ({ n }: { n: number }) => n).expand({ n: none });
    dag.task("after", ({ all }: { all: number[] }) => all)({ all: mapped });
    dag.task("anyway", ({ all }: { all?: number[] }) => all, { triggerRule: "all_done" })({ all: mapped });
    const { state, tasks } = await dag.test();
    expect(state).toBe("success");
    expect(statesOf(tasks)).toEqual({ none: "success", mapped: "skipped", after: "skipped", anyway: "success" });
    expect(tasks["anyway"]?.value).toEqual([]);
  });

  test("what is no list fails the task, and says why", async () => {
    const dag = new Dag("wrong");
    const text = dag.task("text", (): unknown => ({ files: 3 }))();
    dag.task("mapped", ({ n }: { n: number }) => n).expand({ n: text as never });
    const nothing = dag.task("nothing", (): unknown => undefined)();
    dag.task("of_nothing", ({ n }: { n: number }) => n).expand({ n: nothing as never });
    const { state, tasks } = await dag.test();
    expect(state).toBe("failed");
    expect(tasks["mapped"]).toMatchObject({
      state: "failed",
      reason:
        "it is mapped over text, which is no list: it is an object; let it be Object.entries(…) of that, or [...map]",
    });
    expect(tasks["of_nothing"]?.reason).toBe("it is mapped over nothing, which is no list: nothing was returned");
  });

  test("one that is longer than the limit fails the task", async () => {
    const dag = new Dag("long");
    const numbers = dag.task("numbers", () => Array.from({ length: 1_025 }, (_, n) => n))();
    dag.task("mapped", ({ n }: { n: number }) => n).expand({ n: numbers });
    expect((await dag.test()).tasks["mapped"]).toMatchObject({
      state: "failed",
      reason: "it would have 1025 instances, more than 1024: see core.max_map_length",
    });
    expect((await dag.test({ maxMapLength: 1_025 })).state).toBe("success");
  });

  test("a field of a value, and the values of a mapped task without those that are missing", async () => {
    const dag = new Dag("chained");
    const found = dag.task("found", () => ({ files: ["a", "b", "c"] }))();
    const sizes = dag
      .task("size", ({ file }: { file: string }) => {
        if (file === "b") throw new SkipTask("no such file");
        return file === "a" ? 1 : 3;
      })
      .expand({ file: found.get("files") });
    const doubled = dag
      .task("double", ({ n }: { n?: number }) => (n ?? 0) * 2, { triggerRule: "none_failed" })
      .expand({ n: sizes });
    dag.task("end", ({ all }: { all: number[] }) => all)({ all: doubled });
    const { tasks } = await dag.test();
    expect(tasks["end"]?.value).toEqual([2, 6]);
    expect(Object.keys(tasks)).toContain("double[1]");
    expect(Object.keys(tasks)).not.toContain("double[2]");
  });

  test("an upstream that failed or was skipped is passed on, unexpanded", async () => {
    const dag = new Dag("passed_on");
    const bad = dag.task("bad", (): number[] => {
      throw new Error("no");
    })();
    const skipped = dag.task("skipped", (): number[] => {
      throw new SkipTask("no");
    })();
    const copy = ({ n }: { n?: number }) => n;
    dag.task("a", copy).expand({ n: bad });
    dag.task("b", copy).expand({ n: skipped });
    dag.task("c", copy, { triggerRule: "all_done" }).expand({ n: bad });
    dag.task("d", copy, { triggerRule: "all_done" }).expand({ n: skipped });
    expect(statesOf((await dag.test()).tasks)).toMatchObject({
      a: "upstream_failed",
      b: "skipped",
      c: "upstream_failed",
      d: "skipped",
    });
  });
});

describe("a mapped group", () => {
  test("has one instance of each of its tasks for each element, and goes depth first", async () => {
    const dag = new Dag("group");
    const order: string[] = [];
    const files = dag.task("files", () => ["a", "b", "c"])();
    const group = dag.taskGroup("per_file");
    const { file } = group.expand({ file: files });
    const parsed = group.task("parse", async ({ name }: { name: string }) => {
      // The first index is the slowest: the others are done before it.
      if (name === "a") await new Promise((resolve) => setTimeout(resolve, 30));
      order.push(`parse ${name}`);
      return name.toUpperCase();
    })({ name: file });
    const loaded = group.task("load", ({ text, name }: { text: string; name: string }) => {
      order.push(`load ${name}`);
      return `${name}${text}`;
    })({ text: parsed, name: file });
    dag.task("all", ({ values }: { values: string[] }) => values)({ values: collect(loaded) });
    const { state, tasks } = await dag.test();
    expect(state).toBe("success");
    expect(tasks["all"]?.value).toEqual(["aA", "bB", "cC"]);
    expect(order.indexOf("load b")).toBeLessThan(order.indexOf("parse a"));
  });

  test("judges its trigger rules for each index", async () => {
    const dag = new Dag("group_rules");
    const group = dag.taskGroup("g");
    const { n } = group.expand({ n: [0, 1, 2] });
    const first = group.task("first", ({ n: given }: { n: number }) => {
      if (given === 1) throw new Error("one is bad");
      return given;
    })({ n });
    group
      .task("second", () => "ran", { triggerRule: "none_failed_min_one_success" })()
      .after(first);
    group
      .task("always_after", () => "ran", { triggerRule: "all_done" })()
      .after(first);
    expect(statesOf((await dag.test()).tasks)).toEqual({
      "g.first[0]": "success",
      "g.first[1]": "failed",
      "g.first[2]": "success",
      "g.second[0]": "success",
      "g.second[1]": "upstream_failed",
      "g.second[2]": "success",
      "g.always_after[0]": "success",
      "g.always_after[1]": "success",
      "g.always_after[2]": "success",
    });
  });

  test("over nothing is skipped whole", async () => {
    const dag = new Dag("group_empty");
    const none = dag.task("none", (): number[] => [])();
    const group = dag.taskGroup("g");
    const { n } = group.expand({ n: none });
    const first = group.task("first", ({ n: given }: { n: number }) => given)({ n });
    group.task("second", ({ x }: { x?: number }) => x, { triggerRule: "all_done" })({ x: first });
    dag.task("after", ({ all }: { all?: number[] }) => all, { triggerRule: "none_failed" })({ all: collect(first) });
    const { tasks } = await dag.test();
    expect(statesOf(tasks)).toEqual({ none: "success", "g.first": "skipped", "g.second": "skipped", after: "success" });
    expect(tasks["after"]?.value).toEqual([]);
  });
});

test("a long list of values is read in pages where the handler asks for it", async () => {
  const dag = new Dag("lazy");
  const each = dag.task("each", ({ n }: { n: number }) => n).expand({ n: Array.from({ length: 601 }, (_, n) => n) });
  dag.task("sum", async ({ all }: { all: LazyList<number> }) => {
    let sum = 0;
    for await (const n of all) sum += n;
    return { sum, length: all.length, last: await all.at(-1), none: (await all.at(601)) ?? null };
  })({ all: each.lazy() });
  expect((await dag.test()).tasks["sum"]?.value).toEqual({ sum: 180_300, length: 601, last: 600, none: null });
});
