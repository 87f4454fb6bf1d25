import { describe, expect, it } from "vitest";
import { Dag, DagDefinitionError, type DagOptions, type TaskOptions } from "../index.ts";
import { createArtifact } from "../runtime/artifact.ts";
import { definitionOf } from "../authoring/dag.ts";

/** What is wrong with a DAG, as its author reads it. */
function problemsOf(dag: Dag): readonly string[] {
  try {
    dag.spec();
    return [];
  } catch (error) {
    if (!(error instanceof DagDefinitionError)) throw error;
    return error.problems.map((problem) => problem.message);
  }
}

/** Types would refuse most wrong options; files in plain JavaScript have none. */
function taskWith(options: unknown): readonly string[] {
  const dag = new Dag("options");
  dag.task("t", () => 1, options as TaskOptions)();
  return problemsOf(dag);
}

function dagWith(options: unknown): readonly string[] {
  return problemsOf(new Dag("options", options as DagOptions));
}

describe("reading a DAG", () => {
  it("reports every problem at once, each with its place in the file", () => {
    const dag = new Dag("many problems");
    const one = dag.task("one", () => 1, { retries: -1 });
    dag.task("two", () => 1);
    one();
    one();
    const reading = createArtifact(() => [definitionOf(dag)]).dags()[0];
    const problems = reading !== undefined && "problems" in reading ? reading.problems : [];
    expect(problems.map((problem) => problem.message)).toEqual([
      'task "one" is placed twice: call its factory once, or declare a second task for a second place',
      'DAG id "many problems" is not a valid id: use letters, digits, underscores, dashes and dots only',
      'task "one": retries must be an integer between 0 and 2147483647, got -1',
      'task "two" is declared but not placed: call its factory once',
    ]);
    for (const { message, stack } of problems) {
      expect(stack?.split("\n")[0]).toBe(`DagError: ${message}`);
      expect(stack?.split("\n")[1]).toMatch(/read-dag\.test\.ts:\d+:\d+/);
    }
    const lines = problems.map(({ stack }) => Number(/read-dag\.test\.ts:(\d+)/.exec(stack ?? "")?.[1]));
    const [placed, declared, first, second] = lines;
    expect(Number(placed) - Number(declared)).toBe(4);
    expect(Number(first) - Number(declared)).toBe(1);
    expect(Number(second) - Number(declared)).toBe(2);
  });

  it("names the tasks of a cycle", () => {
    const dag = new Dag("cycle");
    const [a, b, c] = [dag.task("a", () => 1)(), dag.task("b", () => 1)(), dag.task("c", () => 1)()];
    dag
      .task("d", () => 1)()
      .after(c);
    a.before(b);
    b.before(c);
    c.before(a);
    expect(problemsOf(dag)).toEqual(["the tasks wait for each other in a circle: a → b → c → a"]);
    const self = new Dag("self");
    const only = self.task("only", () => 1)();
    only.before(only);
    expect(problemsOf(self)).toEqual(["the tasks wait for each other in a circle: only → only"]);
  });

  it("refuses a second task or group with the same id", () => {
    const dag = new Dag("twice");
    dag.task("a", () => 1)();
    dag.task("a", () => 2)();
    dag.taskGroup("a");
    expect(problemsOf(dag)).toEqual([
      'task "a" is declared twice: ids of tasks and groups are unique in a DAG',
      'task "a" is declared twice: ids of tasks and groups are unique in a DAG',
    ]);
  });

  it("refuses two DAGs with the same id in one file", () => {
    const dags = [new Dag("same"), new Dag("same"), new Dag("other")].map(definitionOf);
    const readings = createArtifact(() => dags).dags();
    expect(readings).toHaveLength(2);
    expect(readings[0]).toMatchObject({
      dagId: "same",
      problems: [{ message: 'the DAG "same" is declared 2 times in this file: ids of DAGs are unique' }],
    });
    expect(readings[1]).toHaveProperty("spec");
  });

  it("takes the id of a task from its function, its options or its first argument", () => {
    const dag = new Dag("ids");
    const arrow = () => 1;
    dag.task(arrow)();
    dag.task(async function declared() {})();
    dag.task(() => 1, { taskId: "option" })();
    dag.task("größe.1", () => 1)();
    expect(dag.spec().tasks.map((task) => task.taskId)).toEqual(["arrow", "declared", "option", "größe.1"]);
  });

  it("asks for the id of an anonymous handler, and for valid ids", () => {
    const dag = new Dag("anonymous");
    dag.task(() => 1)();
    dag.task("a b", () => 1)();
    dag.task("x".repeat(251), () => 1)();
    dag.taskGroup("with.dot");
    expect(problemsOf(dag)).toEqual([
      'task number 1 has no id: name its function, or use dag.task("some_id", handler)',
      'task group "with.dot": the id of a group must not contain a dot',
      'task id "a b" is not a valid id: use letters, digits, underscores, dashes and dots only',
      expect.stringContaining("is 251 characters long; an id has at most 250"),
    ]);
  });

  it.each([
    [{ retires: 1 }, 'unknown option "retires"; did you mean "retries"?'],
    [{ retry_delay: 1 }, 'unknown option "retry_delay"; did you mean "retryDelay"?'],
    [{ nonsense: 1 }, 'unknown option "nonsense"'],
    [{ retries: Number.NaN }, "retries must be an integer between 0 and 2147483647, got NaN"],
    [{ retries: "2" }, 'retries must be an integer between 0 and 2147483647, got "2"'],
    [{ poolSlots: 0 }, "poolSlots must be an integer between 1 and 2147483647, got 0"],
    [{ priorityWeight: 2 ** 31 }, "priorityWeight must be an integer between 0 and 2147483647, got 2147483648"],
    [{ priorityWeight: -1 }, "priorityWeight must be an integer between 0 and 2147483647, got -1"],
    [{ retryDelay: -1 }, "retryDelay must be a number of seconds, zero or more, got -1"],
    [{ executionTimeout: 0 }, "executionTimeout must be a number of seconds, positive, got 0"],
    [
      { retryExponentialBackoff: 0.5 },
      "retryExponentialBackoff must be true, false, or a factor of 1 or more, got 0.5",
    ],
    [{ startDate: new Date("nope") }, "startDate must be a valid Date, got an invalid Date"],
    [{ queue: "" }, 'queue must be a string of 1 to 250 characters, got ""'],
    [{ doXcomPush: "no" }, 'doXcomPush must be true or false, got "no"'],
    [{ onFailure: "mail" }, 'onFailure must be a function or an array of functions, got "mail"'],
    [3, "the options must be an object, got 3"],
  ])("refuses the task options %j", (options, message) => {
    expect(taskWith(options)).toEqual([`task "t": ${message}`]);
  });

  it("suggests the trigger rule that was meant", () => {
    expect(taskWith({ triggerRule: "all_sucess" })[0]).toMatch(/got "all_sucess"; did you mean "all_success"\?$/);
  });

  it.each([
    [{ shedule: "@daily" }, 'unknown option "shedule"; did you mean "schedule"?'],
    [{ retries: 2 }, 'unknown option "retries": it belongs to each task'],
    [{ startDate: "2026-01-01" }, 'startDate must be a valid Date, got "2026-01-01"'],
    [
      { startDate: new Date(1), endDate: new Date(0) },
      "endDate 1970-01-01T00:00:00.000Z lies before startDate 1970-01-01T00:00:00.001Z",
    ],
    [{ tags: ["a", 1] }, "tags must be an array of strings of 1 to 100 characters, got 1"],
    [{ catchup: "all" }, 'catchup must be one of true, false, "none", got "all"'],
    [{ schedule: "@daily", catchup: true }, "catchup: true needs a startDate: there is no first interval without one"],
    [{ schedule: "@continuous", maxActiveRuns: 2 }, "maxActiveRuns must be 1 with @continuous, got 2"],
    [{ maxActiveRuns: 0 }, "maxActiveRuns must be an integer of 1 or more, got 0"],
    [{ params: { a: Number.NaN } }, 'param "a": $ is NaN, which JSON does not have: use null, or a string'],
    [
      { schedule: "@daily", params: { day: { schema: {} } } },
      'param "day" has no default, and nobody is there to give it when the schedule starts a run',
    ],
  ])("refuses the DAG options %j", (options, message) => {
    expect(dagWith(options)).toEqual([`DAG "options": ${message}`]);
  });

  it("refuses inputs that cannot reach the handler", () => {
    const dag = new Dag("inputs");
    const other = new Dag("elsewhere");
    const far = other.task("far", () => 1)();
    const silent = dag.task("silent", () => 1, { doXcomPush: false })();
    const factory = dag.task("factory", () => 1);
    const ref = factory();
    const take = dag.task("take", (_: Record<string, unknown>) => 1);
    take({ far, silent, factory, nested: { ref }, when: /x/, group: dag.taskGroup("g"), ok: { a: [1] } });
    expect(problemsOf(dag)).toEqual([
      'task "take": input "far" is task "far" of the DAG "elsewhere"; use an XCom or a trigger',
      'task "take": input "silent" comes from task "silent", which stores no value (doXcomPush: false)',
      'task "take": input "factory" is a factory: call it, and give what it returns',
      'task "take": input "nested" has a task\'s reference inside a literal; give it as an input of its own',
      'task "take": input "when" cannot be stored: $ is an instance of RegExp, which would come back as a plain object: use { ...value }',
      'task "take": input "group" is a task group, which has no value; name a task of it',
    ]);
  });

  it("refuses edges to another DAG and to what is no task", () => {
    const dag = new Dag("edges");
    const here = dag.task("here", () => 1)();
    here.before(new Dag("far_away").task("there", () => 1)());
    here.after(dag.task("later", () => 1) as never);
    expect(problemsOf(dag)).toEqual([
      'task "here": after() takes tasks and groups; a factory has to be called first',
      'task "later" is declared but not placed: call its factory once',
      'an edge leads to task "there" of the DAG "far_away"; edges stay within a DAG',
    ]);
  });

  it("keeps data edges, field paths and literals apart", () => {
    const dag = new Dag("wiring");
    const source = dag.task("source", () => ({ rows: [{ id: 1 }] }))();
    const take = dag.task("take", ({ id, region }: { id: number; region: string; more?: number }) => `${id}${region}`);
    take({ id: source.get("rows").get(0).get("id"), region: "eu" });
    expect(dag.spec().tasks[1]).toMatchObject({
      upstream: ["source"],
      inputs: {
        id: { kind: "xcom", taskId: "source", path: ["rows", "0", "id"] },
        region: { kind: "literal", value: "eu" },
      },
    });
  });

  it("turns options into what their defaults and short forms mean", () => {
    const dag = new Dag("applied", {
      queue: "gpu",
      tags: ["b", "b"],
      startDate: new Date(0),
      params: {
        plain: [1],
        wrapped: { default: 2, description: "" },
        object: { a: 1 },
        asked: { schema: { type: "string" } },
      },
      onFailure: () => {},
    });
    const callback = (): void => {};
    dag.task("a", () => 1, { retryExponentialBackoff: true, waitForDownstream: true, onRetry: [callback] })();
    dag.task("b", () => 1, { retryExponentialBackoff: 3, queue: "cpu", owner: "data", onSuccess: [] })();
    const spec = dag.spec();
    expect(spec).toMatchObject({
      tags: ["b"],
      owners: ["airflow", "data"],
      startDate: "1970-01-01T00:00:00.000Z",
      params: { plain: [1], wrapped: 2, object: { a: 1 } },
      callbacks: ["onFailure"],
    });
    expect(spec.params).not.toHaveProperty("asked");
    expect(spec.tasks).toMatchObject([
      { queue: "gpu", retryExponentialBackoff: 2, dependsOnPast: true, callbacks: ["onRetry"] },
      { queue: "cpu", retryExponentialBackoff: 3, dependsOnPast: false, callbacks: [] },
    ]);
    expect(JSON.parse(JSON.stringify(spec))).toEqual(spec);
  });

  it("survives options that throw when they are read", () => {
    const dag = new Dag("hostile", {
      get description(): string {
        throw new Error("no");
      },
    });
    expect(problemsOf(dag)).toEqual(['DAG "hostile" cannot be read: Error: no']);
  });

  it("sees what was declared after it was read", () => {
    const dag = new Dag("growing");
    dag.task("a", () => 1)();
    expect(dag.spec().tasks).toHaveLength(1);
    dag.task("b", () => 1)();
    expect(dag.spec().tasks).toHaveLength(2);
  });

  it("reads a chain of ten thousand tasks", () => {
    const dag = new Dag("chain");
    let last = dag.task("t0", () => 1)();
    for (let index = 1; index < 10_000; index++)
      last = dag
        .task(`t${index}`, () => 1)()
        .after(last);
    expect(dag.spec().tasks).toHaveLength(10_000);
    last.before(dag.task("end", () => 1)());
    expect(dag.spec().tasks.at(-1)?.upstream).toEqual(["t9999"]);
  });
});
