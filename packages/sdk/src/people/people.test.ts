import { describe, expect, test } from "vitest";
import { approval, Dag, hitl, type ApprovalOptions, type HitlOptions, type Json } from "../index.ts";
import { problemsOf } from "../reading/fixtures/problems-of.ts";
import { failure, FakeHost, resumed, runRequest } from "../runtime/fake-host.ts";
import { artifact, type RunRequest } from "../runtime/index.ts";

let count = 0;

function place(body: unknown) {
  const dag = new Dag(`people_${++count}`);
  const task = (dag.task as (id: string, body: unknown) => () => ReturnType<ReturnType<typeof dag.task>>)(
    "ask",
    body,
  )();
  dag
    .task("next", () => 1)()
    .after(task);
  const run = (changes: Partial<RunRequest> = {}) =>
    artifact.run(runRequest(dag.dagId, "ask", changes), new FakeHost());
  return { dag, run };
}

const asked = (options: Partial<HitlOptions> = {}) =>
  place(hitl({ subject: "How large?", options: ["small", "large"], ...options }));

const answer = (chosenOptions: readonly string[], paramsInput: Record<string, Json> = {}) =>
  resumed({
    kind: "event",
    payload: { chosenOptions, paramsInput, respondedAt: "2026-01-02T00:00:00Z", respondedBy: { id: "1", name: "Ada" } },
  });

describe("a question to people", () => {
  test("is asked as files for Airflow's SDK write it: texts from the inputs, and fields with a value", async () => {
    const text = (({ report, dagId }: { report: { version: string }; dagId: string }) =>
      `Ship ${report.version} of ${dagId}?`) as never;
    const params = { replicas: { value: 3, description: "how many", schema: { type: "integer" } } };
    const { dag, run } = asked({ subject: text, body: text, params, defaults: "small", responseTimeout: 5 });
    const subject = `Ship 1.4 of ${dag.dagId}?`;
    expect(await run({ inputs: { report: { version: "1.4" }, dagId: "not this one" } })).toMatchObject({
      hitl: { subject, body: subject, params: { replicas: { type: "integer", default: 3, description: "how many" } } },
    });
    expect(await run(resumed({ kind: "timeout" }))).toMatchObject({ returnValue: { params_input: { replicas: 3 } } });
  });

  test("waits for the answer without a worker", async () => {
    const { run } = asked({
      body: (context) => `For ${context.dagId}`,
      defaults: "small",
      params: { reason: "none", rows: { default: 3, schema: { type: "integer" } }, at: { type: "string" } },
      assignedUsers: ["ada", { id: "2", name: "Grace" }],
      responseTimeout: 60,
    });
    expect(await run({ dagId: `people_${count}` })).toEqual({
      kind: "deferred",
      trigger: { name: "millrace.hitl", kwargs: {} },
      onEvent: "resume",
      state: null,
      timeoutSeconds: 60,
      hitl: {
        subject: "How large?",
        body: `For people_${count}`,
        options: ["small", "large"],
        defaults: ["small"],
        multiple: false,
        params: { reason: { default: "none" }, rows: { type: "integer", default: 3 }, at: { type: "string" } },
        assignedUsers: [
          { id: "ada", name: "ada" },
          { id: "2", name: "Grace" },
        ],
      },
    });
  });

  test("has the answer as its value", async () => {
    expect(await asked().run(answer(["large"], { reason: "fun" }))).toEqual({
      kind: "success",
      returnValue: {
        chosen_options: ["large"],
        params_input: { reason: "fun" },
        responded_at: "2026-01-02T00:00:00Z",
        responded_by_user: { id: "1", name: "Ada" },
        timedout: false,
      },
    });
  });

  test("takes its defaults when time runs out, else fails for good", async () => {
    const params = { reason: "none" };
    expect(
      await asked({ defaults: "small", params, responseTimeout: 5 }).run(resumed({ kind: "timeout" })),
    ).toMatchObject({
      kind: "success",
      returnValue: { chosen_options: ["small"], params_input: params, responded_by_user: null, timedout: true },
    });
    expect(await asked({ responseTimeout: 5 }).run(resumed({ kind: "timeout" }))).toMatchObject({
      kind: "failed",
      retryable: false,
      error: { name: "HitlTimeout", message: "nobody answered within 5 s, and the question has no defaults" },
    });
  });

  test.each<[Partial<HitlOptions>, string]>([
    [{ options: [] }, "options must not be empty"],
    [{ options: ["a", "b", "a"] }, 'options has "a" twice'],
    [{ defaults: "huge" }, 'defaults has "huge", which is not among the options'],
    [{ defaults: ["small", "large"] }, "defaults must have one entry unless multiple is true, got 2"],
    [{ subject: "" }, 'subject must be a string of 1 to 1000 characters, got ""'],
    [{ responseTimeout: 0 }, "responseTimeout must be a number of seconds, positive, got 0"],
    [{ params: { rows: { type: "int" } } }, 'params: "rows" has the type "int", which JSON Schema does not have'],
    [{ assignedUsers: [1 as never] }, "assignedUsers must be an array of user ids or of { id, name }"],
  ])("that is wrong is reported when the DAG is read (%#)", (options, problem) => {
    expect(problemsOf(asked(options).dag)).toEqual([expect.stringContaining(`task "ask": ${problem}`)]);
  });

  test("may have several answers", () => {
    expect(problemsOf(asked({ multiple: true, defaults: ["small", "large"] }).dag)).toEqual([]);
  });
});

describe("an approval", () => {
  const gate = (options: Partial<ApprovalOptions> = {}) => place(approval({ subject: "Go?", ...options }));

  test("goes on when it is approved, and skips what is downstream when not", async () => {
    expect(await gate().run()).toMatchObject({ hitl: { options: ["Approve", "Reject"], multiple: false } });
    const approved = await gate().run(answer(["Approve"]));
    expect(approved).toMatchObject({ kind: "success", returnValue: { chosen_options: ["Approve"] } });
    expect(approved).not.toHaveProperty("branch");
    expect(await gate().run(answer(["Reject"]))).toMatchObject({
      kind: "success",
      returnValue: { chosen_options: ["Reject"] },
      branch: { kind: "follow", taskIds: [] },
    });
    const all = gate({ ignoreDownstreamTriggerRules: true });
    expect(await all.run(answer(["Reject"]))).toMatchObject({ branch: { kind: "skip_all" } });
  });

  test("fails for good on a rejection when asked to, and takes its default when time runs out", async () => {
    const { run } = gate({ failOnReject: true, defaults: "Reject" });
    expect(await run(answer(["Reject"]))).toMatchObject({ kind: "failed", retryable: false });
    expect(await failure(run(answer(["Reject"])))).toBe("ApprovalRejected: rejected by Ada");
    expect(await failure(run(resumed({ kind: "timeout" })))).toBe(
      "ApprovalRejected: rejected by default, for nobody answered",
    );
    expect(await gate({ defaults: "Approve" }).run(resumed({ kind: "timeout" }))).toMatchObject({ kind: "success" });
  });
});
