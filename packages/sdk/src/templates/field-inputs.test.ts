// Values of other tasks in the options of an operator.
import { describe, expect, test } from "vitest";
import { Dag, hitl } from "../index.ts";
import { bash, sql, triggerDagRun } from "../operators/index.ts";
import { Operator } from "../operators/operator.ts";
import { problemsOf } from "../reading/fixtures/problems-of.ts";
import { failure, FakeHost, runRequest } from "../runtime/fake-host.ts";
import { artifact } from "../runtime/index.ts";
import { fileSensor, httpSensor } from "../sensors/index.ts";

test("a reference in an option draws the edge, and its value stands there when the task runs", async () => {
  const dag = new Dag("field_inputs");
  const load = dag.task("load", () => ({ rows: 7, name: "x; rm -rf /" }))();
  const script = bash<{ day: string }>('echo "$ROWS of $NAME on {{ inputs.day }}, with {{ inputs | length }} input"', {
    env: { ROWS: load.get("rows"), NAME: load.get("name") },
  });
  dag.task("report", script)({ day: "monday" });
  expect(dag.spec().tasks.find(({ taskId }) => taskId === "report")).toMatchObject({
    upstream: ["load"],
    inputs: { "@env.ROWS": { kind: "xcom", taskId: "load", path: ["rows"] }, day: { kind: "literal" } },
  });
  const { state, tasks } = await dag.test();
  expect(state).toBe("success");
  expect(tasks["report"]?.value).toBe("7 of x; rm -rf / on monday, with 1 input");
});

test("an option that is one reference as a whole has the value as it is", async () => {
  const dag = new Dag("field_inputs_whole");
  const list = dag.task("list", () => [1, { a: "{{ ds }}" }])();
  const shown = new Operator({
    name: "test",
    fields: { whole: { value: list }, deep: { value: { in: [list] } } },
    run: (inputs, _scope, fields) => [Object.keys(inputs), fields] as never,
  });
  dag.task("shown", shown)();
  expect((await dag.test()).tasks["shown"]?.value).toEqual([
    [],
    // Data is no template.
    { whole: [1, { a: "{{ ds }}" }], deep: { in: [[1, { a: "{{ ds }}" }]] } },
  ]);
});

test("conf of a triggered run has templates, values of tasks and literals side by side", async () => {
  const dag = new Dag("field_inputs_conf");
  const load = dag.task("load", () => ({ rows: 7 }))();
  dag.triggerDagRun({ taskId: "go", dagId: "other", conf: { n: load.get("rows"), day: ["{{ ds }}"], x: 1 } });
  const host = new FakeHost();
  const request = runRequest("field_inputs_conf", "go", { inputs: { "@conf.n": 7 } });
  expect((await artifact.run(request, host)).kind).toBe("success");
  expect(host.triggered).toMatchObject([{ conf: { n: 7, day: ["2026-01-01"], x: 1 } }]);
});

test("a value that is not there fails the task, with its place", async () => {
  const dag = new Dag("field_inputs_missing");
  const load = dag.task("load", () => undefined as unknown as string)();
  dag.task("report", bash("true", { env: { NAME: load } }))();
  expect(await failure(artifact.run(runRequest("field_inputs_missing", "report"), new FakeHost()))).toBe(
    'TemplateError: template field "env.NAME" of task "report": the task that its value comes from gave none',
  );
});

test("instances of a mapped task have the values of their own index, and lists are whole", async () => {
  const dag = new Dag("field_inputs_mapped");
  const names = dag.task("names", () => ["a", "b"])();
  const each = dag
    .task("each", bash<{ name: string }>("echo {{ inputs.name }}{{ ti.map_index }}"))
    .expand({ name: names });
  const group = dag.taskGroup("per_name");
  const { name } = group.expand({ name: names });
  group.task("in_group", bash('echo "$NAME"', { env: { NAME: name } }))();
  const all = new Operator({ name: "test", fields: { all: { value: each } }, run: (_i, _s, fields) => fields["all"] });
  dag.task("all", all)();
  const { tasks } = await dag.test();
  expect(tasks["each[1]"]?.value).toBe("b1");
  expect(tasks["per_name.in_group[0]"]?.value).toBe("a");
  expect(tasks["all"]?.value).toEqual(["a0", "b1"]);
  const lazy = new Dag("field_inputs_lazy");
  const many = lazy.task("many", ({ n }: { n: number }) => n).expand({ n: [1, 2] });
  lazy.task("script", bash("true", { env: { N: many.lazy() as never } }))();
  expect(problemsOf(lazy)).toEqual([
    'task "script": option "env.N" is read in pages, which only handlers can: leave out lazy()',
  ]);
});

describe("what is wrong is reported with the option", () => {
  const other = new Dag("field_inputs_other").task("far", () => "x")();

  test.each([
    ["env.NAME", () => bash("true", { env: { NAME: other } })],
    ["params[0]", () => sql({ connectionId: "pg", sql: "select $1", params: [other] })],
    ["path", () => fileSensor({ path: other })],
    ["request.url", () => httpSensor({ request: { url: other } })],
    ["subject", () => hitl({ subject: other, options: ["yes"] })],
    ["conf.a.b", () => triggerDagRun({ dagId: "d", conf: { a: { b: other } } })],
  ])("%s", (option, make) => {
    const dag = new Dag("field_inputs_wrong");
    (dag.task as (id: string, body: unknown) => () => unknown)("only", make())();
    expect(problemsOf(dag)).toEqual([
      `task "only": option "${option}" is task "far" of the DAG "field_inputs_other"; use an XCom or a trigger`,
    ]);
  });
});
