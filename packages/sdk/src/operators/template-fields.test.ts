// Which options of which operators are templates, and that each of them is strict.
import { describe, expect, test } from "vitest";
import { approval, Dag, hitl } from "../index.ts";
import { problemsOf } from "../reading/fixtures/problems-of.ts";
import { failure, FakeHost, runRequest } from "../runtime/fake-host.ts";
import { artifact } from "../runtime/index.ts";
import { assetSensor, fileSensor, httpSensor, sqlSensor, timeSensor } from "../sensors/index.ts";
import { bash, container, externalTask, http, sql, triggerDagRun } from "./index.ts";

let count = 0;

function place(body: unknown): {
  readonly dag: Dag;
  readonly run: (host?: FakeHost) => ReturnType<typeof artifact.run>;
} {
  const dag = new Dag(`template_fields_${++count}`);
  (dag.task as (id: string, body: unknown) => () => unknown)("only", body)();
  const request = runRequest(dag.dagId, "only", { conf: { x: "given" }, params: { n: 7 } });
  return { dag, run: (host = new FakeHost()) => artifact.run(request, host) };
}

const GIVEN = "{{ dag_run.conf['x'] }}-{{ params.n }}";

describe("a wait is told rendered options", () => {
  test.each<[string, unknown, object]>([
    [
      "timeSensor",
      timeSensor({ at: "{{ data_interval_end.add(years=100) }}", mode: "deferrable" }),
      { trigger: { kwargs: { at: "2126-01-02T00:00:00.000Z" } } },
    ],
    [
      "fileSensor",
      fileSensor({ path: `/nowhere/${GIVEN}/{{ ds }}`, mode: "deferrable" }),
      { trigger: { kwargs: { path: "/nowhere/given-7/2026-01-01" } } },
    ],
    [
      "httpSensor",
      httpSensor({
        // Nothing listens there, and silentFail goes on to the trigger.
        request: {
          url: "http://127.0.0.1:1/{{ ds }}",
          headers: { "x-given": GIVEN },
          body: { day: "{{ ds }}" },
          method: "POST",
        },
        mode: "deferrable",
        silentFail: true,
      }),
      {
        trigger: {
          kwargs: {
            url: "http://127.0.0.1:1/2026-01-01",
            headers: { "x-given": "given-7" },
            body: { day: "2026-01-01" },
          },
        },
      },
    ],
    [
      "sqlSensor",
      sqlSensor({ connectionId: "{{ params.n }}", sql: "select '{{ ds }}' = $1", params: [GIVEN] }),
      { trigger: { kwargs: { connectionId: "7", sql: "select '2026-01-01' = $1", params: ["given-7"] } } },
    ],
    [
      "externalTask",
      externalTask({ externalDagId: `d-${GIVEN}`, externalTaskIds: [`a-${GIVEN}`, "b"] }),
      { trigger: { kwargs: { dagId: "d-given-7", taskIds: ["a-given-7", "b"] } } },
    ],
    [
      "externalTask of one task",
      externalTask({ externalDagId: "d", externalTaskId: `a-${GIVEN}` }),
      { trigger: { kwargs: { dagId: "d", taskIds: ["a-given-7"] } } },
    ],
    [
      "externalTask of a group",
      externalTask({ externalDagId: "d", externalTaskGroupId: `g-${GIVEN}` }),
      { trigger: { kwargs: { dagId: "d", taskGroupId: "g-given-7" } } },
    ],
    [
      "assetSensor",
      assetSensor({ name: "orders", after: "{{ data_interval_start }}" }),
      { trigger: { kwargs: { after: "2026-01-01T00:00:00.000Z" } } },
    ],
    [
      "hitl",
      hitl({ subject: `Load ${GIVEN}?`, body: "For {{ ds }}", options: ["yes"] }),
      { hitl: { subject: "Load given-7?", body: "For 2026-01-01" } },
    ],
    [
      "approval",
      approval({ subject: `Load ${GIVEN}?`, body: "For {{ ds }}" }),
      { hitl: { subject: "Load given-7?", body: "For 2026-01-01" } },
    ],
  ])("%s", async (_name, body, expected) => {
    const { dag, run } = place(body);
    expect(problemsOf(dag)).toEqual([]);
    expect(await run()).toMatchObject({ kind: "deferred", ...expected });
  });

  test("triggerDagRun", async () => {
    const { dag, run } = place(
      triggerDagRun({
        dagId: `d-${GIVEN}`,
        runId: `r-${GIVEN}`,
        logicalDate: "{{ data_interval_end }}",
        note: "by {{ dag.dag_id }}",
        conf: { day: "{{ ds }}", deep: [{ n: "{{ params.n }}" }] },
      }),
    );
    expect(problemsOf(dag)).toEqual([]);
    const host = new FakeHost();
    expect(await run(host)).toEqual({ kind: "success", returnValue: { dagId: "d-given-7", runId: "r-given-7" } });
    expect(host.triggered).toMatchObject([
      {
        dagId: "d-given-7",
        runId: "r-given-7",
        logicalDate: "2026-01-02T00:00:00.000Z",
        note: `by ${dag.dagId}`,
        conf: { day: "2026-01-01", deep: [{ n: "7" }] },
      },
    ]);
  });
});

describe("a name that is missing fails the task, and is named with the task and the field", () => {
  const missing = "{{ params.missing }}";
  test.each<[string, unknown]>([
    ["at", timeSensor({ at: missing })],
    ["path", fileSensor({ path: missing })],
    ["request.url", httpSensor({ request: { url: missing } })],
    ["request.headers.a", httpSensor({ request: { url: "http://127.0.0.1:1", headers: { a: missing } } })],
    ["connectionId", sqlSensor({ connectionId: missing, sql: "select 1" })],
    ["sql", sqlSensor({ connectionId: "pg", sql: missing })],
    ["params[0]", sqlSensor({ connectionId: "pg", sql: "select 1", params: [missing] })],
    ["externalDagId", externalTask({ externalDagId: missing })],
    ["externalTaskId", externalTask({ externalDagId: "d", externalTaskId: missing })],
    ["externalTaskIds[1]", externalTask({ externalDagId: "d", externalTaskIds: ["a", missing] })],
    ["externalTaskGroupId", externalTask({ externalDagId: "d", externalTaskGroupId: missing })],
    ["after", assetSensor({ name: "orders", after: missing })],
    ["subject", hitl({ subject: missing, options: ["yes"] })],
    ["body", approval({ subject: "go?", body: missing })],
    ["dagId", triggerDagRun({ dagId: missing })],
    ["runId", triggerDagRun({ dagId: "d", runId: missing })],
    ["logicalDate", triggerDagRun({ dagId: "d", logicalDate: missing })],
    ["note", triggerDagRun({ dagId: "d", note: missing })],
    ["conf.a.b[0]", triggerDagRun({ dagId: "d", conf: { a: { b: [missing] } } })],
    ["command", bash(missing)],
    ["env.A", bash("true", { env: { A: missing } })],
    ["cwd", bash("true", { cwd: missing })],
    ["url", http({ url: missing })],
    ["endpoint", http({ connectionId: "api", endpoint: missing })],
    ["connectionId", http({ connectionId: missing })],
    ["headers.a", http({ url: "http://127.0.0.1:1", headers: { a: missing } })],
    ["query.a", http({ url: "http://127.0.0.1:1", query: { a: missing } })],
    ["body.a[0]", http({ url: "http://127.0.0.1:1", method: "POST", body: { a: [missing] } })],
    ["connectionId", sql({ connectionId: missing, sql: "select 1" })],
    ["sql[1].sql", sql({ connectionId: "pg", sql: ["select 1", { sql: missing }] })],
    ["sql[0].params[0]", sql({ connectionId: "pg", sql: [{ sql: "select $1", params: [missing] }] })],
    ["params[0]", sql({ connectionId: "pg", sql: "select $1", params: [missing] })],
    ["image", container({ image: missing })],
    ["command[0]", container({ image: "i", command: [missing] })],
    ["env.A", container({ image: "i", env: { A: missing } })],
    ["volumes[0].source", container({ image: "i", volumes: [{ source: missing, target: "/x" }] })],
  ])("%s of an operator", async (field, body) => {
    const { dag, run } = place(body);
    expect(problemsOf(dag)).toEqual([]);
    expect(await failure(run())).toBe(
      `TemplateError: template field "${field}" of task "only": "params.missing" is not defined`,
    );
  });
});

describe("what a template makes of an option is checked as the option is", () => {
  test.each<[unknown, string]>([
    [timeSensor({ at: "{{ params.n }}" }), 'at must be a Date or a date of ISO 8601, got "7"'],
    [httpSensor({ request: { url: "{{ params.n }}" } }), "must be an http or https URL"],
    [externalTask({ externalDagId: "{{ params.n }} x" }), 'externalDagId must be an id, got "7 x"'],
    [triggerDagRun({ dagId: "a b {{ params.n }}" }), 'dagId must be an id, got "a b 7"'],
    [hitl({ subject: "{{ '' }}", options: ["yes"] }), "subject must be a string of 1 to 1000 characters"],
    [http({ url: "{{ params.n }}" }), "the address must be an http or https URL"],
    [container({ image: "--privileged{{ params.n }}" }), "is no name"],
  ])("%#", async (body, message) => {
    const { dag, run } = place(body);
    expect(problemsOf(dag)).toEqual([]);
    expect(await failure(run())).toContain(message);
  });
});
