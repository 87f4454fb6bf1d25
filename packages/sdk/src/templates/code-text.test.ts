import { describe, expect, test } from "vitest";
import { Dag, getClient } from "../index.ts";
import { bash } from "../operators/index.ts";
import { artifact } from "../runtime/artifact.ts";
import { FakeHost, runRequest } from "../runtime/fake-host.ts";
import type { Json } from "../spec/index.ts";
import { render } from "./fixtures/render.ts";

describe("in a script", () => {
  const evil = "x; touch /tmp/owned";
  test.each([
    "{{ params.x }}",
    '"{{ params.x }}"',
    "{{ dag_run.conf.x }}",
    "{{ inputs.x }}",
    "{% set y = params.x %}{{ y }}",
    "{% for y in [params.x] %}{{ y }}{% endfor %}",
    "{{ params.x | upper }}",
    "{{ 'a' ~ params.x }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(params.x) }}",
    "{{ params }}",
    // Names of the installation that stand for something else here.
    "{% for task in [params.x] %}{{ task }}{% endfor %}",
    "{% for dag, conn in [[1, params.x]] %}{{ conn }}{% endfor %}",
    "{% set ds = params.x %}{{ ds }}",
    "{% set ds %}{{ params.x | safe }}{% endset %}{{ ds }}",
    "{% macro m(var) %}{{ var }}{% endmacro %}{{ m(params.x) | safe }}",
    "{% filter replace('X', params.x) %}X{% endfilter %}",
    "{{ params.x | e }}",
  ])("%s takes no value that bash could take for code", async (template) => {
    const given = { params: { x: evil }, conf: { x: evil }, inputs: { x: evil }, code: "shell" as const };
    expect(await render(`echo ${template}`, given)).toContain("bash could take it for code: hand it over in env");
  });

  test.each<[Json, boolean]>([
    ["2026-01-01", true],
    ["s3://bucket/key_1.csv", true],
    ["Ünï", true],
    [5, true],
    ["-rf", false],
    ["a b", false],
    ["$(id)", false],
    ["`id`", false],
    ["a\nb", false],
    ["~root", false],
    ["*", false],
    ["'", false],
  ])("%j is a plain word: %s", async (x, isPlain) => {
    const got = await render("echo {{ params.x }}", { params: { x }, code: "shell" as const });
    if (isPlain) expect(got).toBe(`echo ${String(x)}`);
    else expect(got).toMatch(/^TemplateError/);
  });

  test.each([
    ["users", true],
    ["2026-01-01", true],
    ["x'; drop table t", false],
    ["a--b", false],
    ["1=1", false],
  ])("in a statement %s is a plain word: %s", async (x, isPlain) => {
    const got = await render("select '{{ params.x }}'", { params: { x }, code: "sql" });
    if (isPlain) expect(got).toBe(`select '${x}'`);
    else expect(got).toContain("hand it over in params and write $1 for it");
  });

  test("the author's own texts, dates and variables are code, and so is what is said to be safe", async () => {
    const host = new FakeHost();
    host.variables.set("flags", "-a -b");
    const template =
      "x {{ 'a b' }} {{ logical_date }} {{ var.value.flags }} {{ params.x | quote }} {{ params.x | safe }}";
    expect(await render(template, { host, params: { x: "a;b" }, code: "shell" as const })).toBe(
      "x a b 2026-01-01 00:00:00+00:00 -a -b 'a;b' a;b",
    );
  });

  test("bash runs the rendered script, and tells its rendered fields", async () => {
    const host = new FakeHost();
    const told: Json[] = [];
    const withFields = Object.assign(host, {
      setRenderedFields: (fields: Readonly<Record<string, Json>>) => {
        told.push(fields);
        return Promise.resolve();
      },
    });
    const dag = new Dag("templates_bash");
    dag.task("only", bash('echo "{{ ds }} $WHO"', { env: { WHO: "{{ dag_run.conf.who }}" } }))();
    const request = runRequest("templates_bash", "only", { conf: { who: "$(echo evil); `id`" } });
    expect(await artifact.run(request, withFields)).toEqual({
      kind: "success",
      returnValue: "2026-01-01 $(echo evil); `id`",
    });
    expect(told).toEqual([{ command: 'echo "2026-01-01 $WHO"', env: { WHO: "$(echo evil); `id`" } }]);
  });

  test("a task whose template fails is tried again, as any other that fails", async () => {
    const dag = new Dag("templates_failing");
    dag.task("only", bash("echo {{ params.missing }}"))();
    expect(await artifact.run(runRequest("templates_failing", "only"), new FakeHost())).toMatchObject({
      kind: "failed",
      retryable: true,
      error: { message: 'template field "command" of task "only": "params.missing" is not defined' },
    });
    expect(() => getClient()).toThrow("works only while");
  });
});
