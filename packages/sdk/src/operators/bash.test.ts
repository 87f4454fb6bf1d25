import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Dag } from "../authoring/dag.ts";
import { artifact, type RunRequest, type TaskOutcome } from "../runtime/index.ts";
import { FakeHost, runRequest } from "../runtime/fake-host.ts";
import { bash, BashFailed } from "./index.ts";
import { runBash } from "./bash-process.ts";
import type { Operator } from "./operator.ts";

let count = 0;

/** Runs one operator as the only task of a DAG. */
function run(
  operator: Operator<Record<string, never>, string>,
  host = new FakeHost(),
  changes: Partial<RunRequest> = {},
): Promise<TaskOutcome> {
  const dag = new Dag(`bash_${++count}`);
  dag.task("script", operator, { owner: "ops" })();
  return artifact.run(runRequest(dag.dagId, "script", changes), host);
}

function failure(outcome: TaskOutcome): string {
  return outcome.kind === "failed" ? `${outcome.error.name}: ${outcome.error.message}` : outcome.kind;
}

/** A zombie is dead: its parent is, and a container's first process may never ask for its exit code. */
function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

describe("bash", () => {
  it("logs every line and returns the last one of standard output", async () => {
    const host = new FakeHost();
    const outcome = await run(bash("echo one; echo oops >&2; printf 'zwei ü  '"), host);
    expect(outcome).toEqual({ kind: "success", returnValue: "zwei ü" });
    expect(host.lines.filter((line) => line.stream === "stdout").map((line) => line.message)).toEqual([
      "one",
      "zwei ü",
    ]);
    expect(host.lines).toContainEqual({ message: "oops", stream: "stderr" });
  });

  it("returns an empty string for a script without output", async () => {
    expect(await run(bash("true"))).toEqual({ kind: "success", returnValue: "" });
  });

  it("fails with the exit code in the message, and may be tried again", async () => {
    const outcome = await run(bash("exit 3"));
    expect(outcome).toMatchObject({ kind: "failed", retryable: true });
    expect(failure(outcome)).toBe("BashFailed: the script ended with exit code 3");
    expect(new BashFailed("x", 3).exitCode).toBe(3);
  });

  it("names the signal that ended the script", async () => {
    expect(failure(await run(bash("kill -9 $$")))).toBe("BashFailed: the script was ended by SIGKILL");
  });

  it("skips on exit code 99, on the given codes, or never", async () => {
    expect((await run(bash("exit 99"))).kind).toBe("skipped");
    expect((await run(bash("exit 7", { skipOnExitCode: [7, 8] }))).kind).toBe("skipped");
    expect((await run(bash("exit 99", { skipOnExitCode: [7, 8] }))).kind).toBe("failed");
    expect((await run(bash("exit 99", { skipOnExitCode: null }))).kind).toBe("failed");
  });

  it("hands over data in the environment, where none of it is code", async () => {
    const dag = new Dag("bash_env");
    const script = bash('echo "$WHO of $AIRFLOW_CTX_DAG_ID"', {
      env: (_context, { who }: { who: string }) => ({ WHO: who }),
    });
    dag.task("script", script)({ who: "me" });
    const inputs = { who: '$(touch /tmp/never); "`id`' };
    const outcome = await artifact.run(runRequest("bash_env", "script", { inputs }), new FakeHost());
    expect(outcome).toEqual({ kind: "success", returnValue: '$(touch /tmp/never); "`id` of bash_env' });
  });

  it("knows the run from Airflow's variables", async () => {
    const host = new FakeHost();
    await run(bash("env | grep ^AIRFLOW_CTX_ | grep -v DAG_ID | sort"), host, { tryNumber: 2 });
    expect(host.lines.map((line) => line.message)).toEqual([
      "AIRFLOW_CTX_DAG_OWNER=ops",
      "AIRFLOW_CTX_DAG_RUN_ID=scheduled__2026-01-01T00:00:00+00:00",
      "AIRFLOW_CTX_LOGICAL_DATE=2026-01-01T00:00:00+00:00",
      "AIRFLOW_CTX_TASK_ID=script",
      "AIRFLOW_CTX_TRY_NUMBER=2",
    ]);
  });

  it("can keep the variables of the worker away from the script", async () => {
    expect(await run(bash('echo "${HOME-unset}"', { appendEnv: false }))).toMatchObject({ returnValue: "unset" });
  });

  it("tells its host which process group it started, and when that one is gone", async () => {
    const host = new FakeHost();
    const outcome = await run(bash("echo $$"), host);
    const pid = outcome.kind === "success" ? Number(outcome.returnValue) : 0;
    expect(host.groups).toEqual([
      { pid, state: "started" },
      { pid, state: "ended" },
    ]);
  });

  it("computes the command from the context", async () => {
    expect(await run(bash((context) => `echo ${context.tryNumber}`))).toMatchObject({ returnValue: "1" });
  });

  it("works in a temporary directory that is gone afterwards, or in the given one", async () => {
    const outcome = await run(bash("touch file; pwd"));
    const directory = outcome.kind === "success" ? String(outcome.returnValue) : "";
    expect(directory).toContain("millrace-bash-");
    expect(existsSync(directory)).toBe(false);
    expect(await run(bash("pwd", { cwd: "/" }))).toMatchObject({ returnValue: "/" });
    expect(failure(await run(bash("pwd", { cwd: "/no/such/place" })))).toContain(
      'cwd "/no/such/place" is not a directory',
    );
  });

  it("decodes other encodings and refuses unknown ones at once", async () => {
    expect(await run(bash("printf '\\xfc'", { outputEncoding: "latin1" }))).toMatchObject({ returnValue: "ü" });
    expect(() => bash("true", { outputEncoding: "klingon" })).toThrow(RangeError);
  });

  it("fails in words when bash cannot be started", async () => {
    expect(failure(await run(bash("true", { env: { BIG: "x".repeat(200_000) } })))).toMatch(
      /bash could not be started|E2BIG/,
    );
  });

  it("ends the script and its children with SIGTERM when the attempt has to stop", async () => {
    const host = new FakeHost();
    const pids: number[] = [];
    host.onLine = (line) => {
      if (/^\d+$/.test(line)) pids.push(Number(line));
      if (pids.length === 2) host.controller.abort(new Error("executionTimeout of 1 s is over"));
    };
    const outcome = await run(bash("sleep 60 & echo $!; echo $$; wait"), host);
    expect(failure(outcome)).toBe("Error: executionTimeout of 1 s is over");
    await expect.poll(() => pids.map(alive)).toEqual([false, false]);
  });

  it("leaves nothing running behind a script that ended", async () => {
    const outcome = await run(bash("(trap '' TERM; exec sleep 60) >/dev/null 2>&1 & echo $!"));
    const pid = outcome.kind === "success" ? Number(outcome.returnValue) : 0;
    await expect.poll(() => alive(pid)).toBe(false);
  });

  it("waits for what a script left with its output, and says so", async () => {
    const controller = new AbortController();
    const lines: string[] = [];
    const exit = await runBash({
      command: "(while read -r line; do echo late $line; done; sleep 60) < <(echo word) & echo now",
      env: { PATH: process.env["PATH"] ?? "" },
      cwd: "/",
      encoding: "utf-8",
      signal: controller.signal,
      onLine: (_stream, line) => lines.push(line),
      leftMs: 100,
      onLeft: () => controller.abort(),
    });
    expect(exit).toMatchObject({ code: 0, lastLine: "late word" });
    expect(lines).toEqual(["now", "late word"]);
  });

  it("kills a script that ignores SIGTERM after the grace time", async () => {
    const controller = new AbortController();
    const exit = await runBash({
      command: "trap '' TERM; echo ready; while true; do sleep 0.05; done",
      env: { PATH: process.env["PATH"] ?? "" },
      cwd: "/",
      encoding: "utf-8",
      signal: controller.signal,
      onLine: () => controller.abort(),
      graceMs: 100,
    });
    expect(exit).toEqual({ code: null, killedBy: "SIGKILL", lastLine: "ready" });
  });

  it("does not start a script when the attempt has been stopped already", async () => {
    const host = new FakeHost();
    host.controller.abort(new Error("cleared"));
    expect(failure(await run(bash("echo never"), host))).toBe("Error: cleared");
    expect(host.lines).toEqual([]);
  });
});
