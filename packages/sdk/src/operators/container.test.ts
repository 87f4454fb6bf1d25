// With a program that stands in for the engine.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { standInEngine } from "@millrace/testkit/stand-in-engine";
import { Dag } from "../index.ts";
import { artifact } from "../runtime/artifact.ts";
import { FakeHost, runRequest } from "../runtime/fake-host.ts";
import { afterAll, expect, test } from "vitest";
import { container, type ContainerOptions } from "./index.ts";

const stand = await standInEngine();
afterAll(() => stand[Symbol.asyncDispose]());
const { path: engine, folder, calls, containers } = stand;

let count = 0;
function run(options: Partial<ContainerOptions>, host = new FakeHost(), runId = "r") {
  const dag = new Dag(`container_${++count}`);
  dag.task("only", container({ image: "IMAGE", engine, ...options }))();
  return artifact.run(runRequest(dag.dagId, "only", { runId, params: { x: "$(id); a b" } }), host);
}

test("the command, the environment and volumes are templates that no shell reads", async () => {
  const host = new FakeHost();
  const outcome = await run(
    {
      command: ["sh", "-c", 'echo "$1 $TARGET $AIRFLOW_CTX_TASK_ID"', "sh", "{{ params.x }}"],
      env: { TARGET: "{{ ds }}", DOCKER_HOST: "elsewhere" },
      volumes: [{ source: "/data/{{ ds }}", target: "/data", readOnly: true }],
      workdir: "/data",
      memory: "64m",
      cpus: 0.5,
      args: ["--init"],
    },
    host,
  );
  expect(outcome).toEqual({ kind: "success", returnValue: "$(id); a b 2026-01-01 only" });
  const ran = (await calls()).find((line) => line.startsWith("run "));
  expect(ran).toMatch(/^run --rm --name millrace-[0-9a-f]{24} --pull missing --label millrace.dag=container_1 /);
  // What the engine's own program would read goes by a file, and no value is in the list of processes.
  expect(ran).toMatch(/--env TARGET --env-file (\S+) --volume \/data\/2026-01-01:\/data:ro --workdir \/data/);
  expect(ran).not.toContain("elsewhere");
  expect(await readFile(join(folder, "env-seen"), "utf8")).toBe("DOCKER_HOST=elsewhere\n");
  const file = / --env-file (\S+)/.exec(ran ?? "")?.[1] ?? "";
  await expect(readFile(file)).rejects.toThrow("ENOENT");
  expect(ran).toContain("--memory 64m --cpus 0.5 --init IMAGE sh -c");
  expect(await containers()).toEqual([]);
});

test("exit codes fail or skip the task, and say what they mean", async () => {
  expect(await run({ command: ["sh", "-c", "exit 3"] })).toMatchObject({
    kind: "failed",
    error: { name: "ContainerFailed", message: "the container ended with exit code 3" },
  });
  const said = "echo 'docker: there is no such image.' >&2; echo \"See 'docker run --help'.\" >&2; exit 125";
  expect(await run({ command: ["sh", "-c", said] })).toMatchObject({
    error: {
      message: `${engine} could not start the container (exit code 125): docker: there is no such image.`,
    },
  });
  expect(await run({ command: ["sh", "-c", "exit 7"], skipOnExitCode: [7] })).toMatchObject({ kind: "skipped" });
  expect(await run({ engine: join(folder, "nowhere") })).toMatchObject({
    error: { message: expect.stringContaining("could not be started") as string },
  });
});

test("a container is left alone while it runs, and removed before and after", async () => {
  const before = (await calls()).length;
  expect(await run({ command: ["sh", "-c", "sleep 0.5; echo whole"] })).toMatchObject({ returnValue: "whole" });
  expect((await calls()).slice(before).map((line) => line.split(" ")[0])).toEqual(["rm", "run", "rm"]);
});

test("a task that has to stop takes its container with it", async () => {
  const host = new FakeHost();
  host.onLine = (line) => line === "begun" && host.controller.abort(new Error("cleared"));
  const outcome = await run({ command: ["sh", "-c", "echo begun; sleep 60"] }, host);
  expect(outcome).toMatchObject({ kind: "failed", error: { message: "cleared" } });
  expect((await calls()).at(-1)).toMatch(/^rm --force millrace-/);
  expect(await containers()).toEqual([]);
});

test("nothing that a template gives becomes an option of the engine", async () => {
  expect(await run({ image: "--privileged" })).toMatchObject({
    error: { message: 'image: "--privileged" is no name' },
  });
  expect(await run({ env: { HTTPS_PROXY: "a\n--privileged" } })).toMatchObject({
    error: { message: expect.stringContaining("HTTPS_PROXY has a line break") as string },
  });
  expect(await run({ volumes: [{ source: "/:/host", target: "/x" }] })).toMatchObject({
    error: { message: expect.stringContaining("have no colon") as string },
  });
});
