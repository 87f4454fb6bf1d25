import { describe, expect, it } from "vitest";
import { Dag, type StandardSchema } from "../index.ts";
import { artifact } from "../runtime/artifact.ts";
import { FakeHost, runRequest } from "../runtime/fake-host.ts";
import { problemsOf } from "./fixtures/problems-of.ts";

const problems = (dag: Dag) => problemsOf(dag).map((problem) => problem.replace(/^DAG "\w+": /, ""));

/** As a library's validator of a text: with a default, or without. */
const text = (fallback?: string, jsonSchema?: () => Record<string, unknown>): StandardSchema<string> => ({
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) => {
      const given = value === undefined ? fallback : value;
      return typeof given === "string" ? { value: given.trim() } : { issues: [{ message: `expected a text` }] };
    },
    ...(jsonSchema === undefined ? {} : { jsonSchema: { input: jsonSchema } }),
  },
});

const whole = (fallback?: number): StandardSchema => ({
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) => {
      const { rows = fallback, region = "eu" } = value as { rows?: unknown; region?: unknown };
      const issues = [
        ...(typeof rows === "number" ? [] : [{ message: "expected a number", path: ["rows"] }]),
        ...(typeof region === "string" ? [] : [{ message: "expected a text", path: [{ key: "region" }] }]),
      ];
      return issues.length > 0 ? { issues } : { value: { rows, region } };
    },
  },
});

let count = 0;
function declare(params: ConstructorParameters<typeof Dag>[1] extends infer O ? O : never): Dag {
  const dag = new Dag(`params_${count++}`, params);
  dag.task("t", () => "ran")();
  return dag;
}

it("a param is refused that has parts which would be without effect, as a schema that stands beside its default", () => {
  const params = { who: { type: "string", default: "you" } as object };
  expect(problems(declare({ params }))).toEqual([
    'param "who" has no "type": what its value must be goes into its schema, as in { default: …, schema: { type: … } }',
  ]);
});

async function run(dag: Dag, params: Record<string, never> | object) {
  const { dagId } = dag.spec();
  return await artifact.run({ ...runRequest(dagId, "t"), params: params as Record<string, string> }, new FakeHost());
}

describe("params", () => {
  it("keep what forms and checks need: schema, description, and that one is required", () => {
    const schema = { type: "string", format: "date" };
    const dag = declare({
      params: { day: { schema, description: "which" }, n: 1, m: { default: 2, schema: { minimum: 1 } } },
    });
    expect(dag.spec()).toMatchObject({
      params: { n: 1, m: 2 },
      paramSpecs: { day: { schema, description: "which", required: true }, m: { schema: { minimum: 1 } } },
    });
    expect(declare({ params: { n: 1 } }).spec()).not.toHaveProperty("paramSpecs");
  });

  it("of a validator have its default, its JSON Schema where it can say it, or are required", () => {
    const dag = declare({
      params: { a: text(" x "), b: text(), c: text("c", () => ({ $schema: "draft", type: "string" })) },
    });
    expect(dag.spec()).toMatchObject({
      params: { a: "x", c: "c" },
      paramSpecs: { b: { required: true }, c: { schema: { type: "string" } } },
    });
    const thrower = text("d", () => {
      throw new Error("a transform");
    });
    expect(declare({ params: { d: thrower } }).spec().params).toEqual({ d: "d" });
  });

  it("of one validator for all have its defaults", () => {
    expect(declare({ params: whole(7) }).spec().params).toEqual({ rows: 7, region: "eu" });
    expect(declare({ params: whole() }).spec().paramSpecs).toEqual({ rows: { required: true } });
  });

  it("that are required cannot be scheduled, however they are declared", () => {
    const message = (name: string) =>
      `param "${name}" has no default, and nobody is there to give it when the schedule starts a run`;
    expect(problems(declare({ schedule: "@daily", params: { a: { schema: {} } } }))).toEqual([message("a")]);
    expect(problems(declare({ schedule: "@daily", params: { b: text() } }))).toEqual([message("b")]);
    expect(problems(declare({ schedule: "@daily", params: whole() }))).toEqual([message("rows")]);
    expect(problems(declare({ schedule: "@daily", params: whole(1) }))).toEqual([]);
  });

  it("say what is wrong with a validator", () => {
    const later = { "~standard": { version: 1, vendor: "t", validate: async () => ({ value: 1 }) } } as const;
    const throws = text();
    Object.assign(throws["~standard"], {
      validate: () => {
        throw new Error("broken");
      },
    });
    const dag = declare({ params: { later, throws, s: { schema: 1 as never } } });
    expect(problems(dag)).toEqual([
      'param "later": its validator answers later, and the defaults are needed at once: use one that is not async',
      'param "throws": its validator threw: broken',
      'param "s": its schema must be a JSON Schema, got 1',
    ]);
  });

  it("go through their validators before a handler starts, and each violation is told", async () => {
    const dag = new Dag("validated", { params: { a: text("x"), b: text("y"), plain: 1 } });
    let seen: unknown;
    dag.task("t", async () => {
      const { getContext } = await import("../index.ts");
      seen = getContext().params;
    })();
    expect(await run(dag, { a: "  trimmed ", b: "y", plain: 2 })).toMatchObject({ kind: "success" });
    expect(seen).toEqual({ a: "trimmed", b: "y", plain: 2 });
    expect(await run(dag, { a: 1, b: null, plain: 1 })).toEqual({
      kind: "failed",
      retryable: false,
      error: {
        name: "ParamsInvalid",
        message: "the params of the run do not fit: a: expected a text; b: expected a text",
      },
    });
    const all = declare({ params: whole(1) });
    expect(await run(all, { rows: "x", region: 1 })).toMatchObject({
      error: { message: "the params of the run do not fit: rows: expected a number; region: expected a text" },
    });
  });
});
