// The `container` operator on a real engine, in tasks of real workers: values, signals, exit codes, and what is left when
// the process that runs an attempt is killed. Without an engine, or an image to run, one test says so.
import { execFile } from "node:child_process";
import { access, mkdtemp, readFile, rm, symlink, writeFile, mkdir, copyFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { testDatabase, testRedisUrl, waitUntil, type MillraceProcess } from "@millrace/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openFleet, type Fleet } from "../e2e/fleet.ts";
import { answers } from "./engine.ts";

const exec = promisify(execFile);
const docker = async (...args: readonly string[]): Promise<string> => (await exec("docker", args)).stdout.trim();

const IMAGE = "millrace-test-busybox:1";
const CANARY = "c4n4ry-of-a-container";

/** Of a registry if one is reachable, else of this machine's own static busybox. */
async function makeImage(): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-image-"));
  try {
    const busybox = "/bin/busybox";
    const isStatic = await access(busybox)
      .then(async () => (await exec("ldd", [busybox]).catch((error: unknown) => ({ stdout: String(error) }))).stdout)
      .then(
        (said) => said.includes("not a dynamic executable"),
        () => false,
      );
    if (!isStatic) {
      await docker("pull", "busybox:1.37");
      await docker("tag", "busybox:1.37", IMAGE);
      return undefined;
    }
    for (const name of ["bin", "tmp"]) await mkdir(join(folder, name));
    await copyFile(busybox, join(folder, "bin/busybox"));
    for (const name of ["sh", "sleep", "echo", "env", "cat", "id", "true"])
      await symlink("busybox", join(folder, "bin", name));
    await exec("tar", ["-C", folder, "-cf", join(folder, "root.tar"), "bin", "tmp"]);
    await docker("import", "--change", "ENV PATH=/bin", join(folder, "root.tar"), IMAGE);
    return undefined;
  } catch (error) {
    return `there is no image to run: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const missing = (await answers()) ? await makeImage() : "no container engine answers `docker info`";

const FILE = `
import { Dag } from "@millrace/sdk";
import { container } from "@millrace/sdk/operators";

const image = "${IMAGE}";
const sh = (script) => ["sh", "-c", script];
const of = (id, options, task = {}) => {
  const dag = new Dag("box_" + id, { params: { word: "$(id); a b" } });
  dag.task("only", container({ image, network: "none", ...options }), task)();
};
of("value", {
  command: ["sh", "-c", 'echo "to stderr" >&2; echo "$1 $WORD $HTTPS_PROXY $AIRFLOW_CTX_TASK_ID $(cat /data/in)"; sleep 3; echo last', "sh", "{{ params.word }}"],
  env: { WORD: "{{ var.value.api_token }}", HTTPS_PROXY: "http://{{ var.value.api_token }}@proxy" },
  volumes: [{ source: "{{ dag_run.conf['folder'] }}", target: "/data", readOnly: true }],
});
of("fails", { command: sh("echo broken >&2; exit 3") });
of("skips", { command: sh("exit 99"), skipOnExitCode: 99 });
of("absent", { image: "millrace-nowhere/absent:0", pull: "never" });
of("unknown", { command: ["no-such-program"] });
of("killed", { command: sh("echo begun; sleep 600") });
of("waits", { command: sh("trap 'echo cleaned up; exit 0' TERM; echo begun; while true; do sleep 0.2; done") });
of("deaf", { command: sh("trap '' TERM; echo begun; while true; do sleep 0.2; done") });
of("lost", { command: sh("echo begun; sleep 600"), env: { HTTPS_PROXY: "secret" } }, { retries: 1, retryDelay: 3600 });
`;

if (missing !== undefined) {
  console.log(`tests/containers: ${missing}; the container operator was NOT tested on a real engine here`);
  test(`the container operator was not tried: ${missing}`, () => {
    expect(missing).not.toBe("");
  });
} else {
  const database = await testDatabase();
  const redisUrl = await testRedisUrl();
  let fleet: Fleet;
  let worker: MillraceProcess;

  beforeAll(async () => {
    fleet = await openFleet(database, redisUrl, database.url);
    await writeFile(join(fleet.folder, "dags", "box.ts"), FILE);
    await fleet.command(["variables", "set", "api_token", CANARY]);
    await fleet.start(["dag-processor"]);
    await waitUntil(async () => (await fleet.query("select from dag where dag_id like 'box_%'")).length === 9, {
      what: "the DAGs are read",
      timeoutMs: 90_000,
    });
    await fleet.query("update dag set is_paused = dag_id not like 'box_%'");
    await fleet.start(["scheduler"]);
    worker = await fleet.start(["worker"]);
  });
  afterAll(() => fleet?.close());

  const trigger = async (id: string, conf: Readonly<Record<string, string>> = {}) =>
    await fleet.command(["dags", "trigger", `box_${id}`, "-r", "r", "-c", JSON.stringify(conf)]);
  const logOf = async (id: string, attempt = 1): Promise<string> =>
    await readFile(
      join(fleet.folder, `logs/dag_id=box_${id}/run_id=r/task_id=only/attempt=${attempt}.log`),
      "utf8",
    ).catch(() => "");
  const left = () => docker("ps", "--all", "--quiet", "--filter", "label=millrace.task=only");
  const gone = (what: string) =>
    waitUntil(async () => (await left()) === "", { what, timeoutMs: 30_000, intervalMs: 250 });
  const begun = (id: string) =>
    waitUntil(async () => (await logOf(id)).includes("begun"), { what: "it has begun", timeoutMs: 60_000 });
  const reasonOf = async (id: string) =>
    (
      await fleet.query<{ reason: string }>("select state_reason as reason from task_instance where dag_id = $1", [
        `box_${id}`,
      ])
    )[0]?.reason;

  describe("a container", () => {
    test("has its variables, volumes and arguments, and no secret is in a list of processes", async () => {
      const folder = await mkdtemp(join(tmpdir(), "millrace-volume-"));
      await writeFile(join(folder, "in"), "from the volume");
      await trigger("value", { folder });
      await waitUntil(async () => (await logOf("value")).includes("from the volume"), {
        what: "it runs",
        timeoutMs: 60_000,
      });
      const listed = (await exec("ps", ["-eo", "args"], { maxBuffer: 2 ** 24 })).stdout;
      expect(listed).toContain("docker run --rm --name millrace-");
      expect(listed).not.toContain(CANARY);
      expect((await fleet.ended("box_value", "r")).state).toBe("success");
      const log = await logOf("value");
      expect(log).toContain("$(id); a b *** http://***@proxy only from the volume");
      expect(log).toContain("to stderr");
      expect(await fleet.query("select value from xcom where dag_id = 'box_value'")).toEqual([{ value: "last" }]);
      expect(await left()).toBe("");
      await rm(folder, { recursive: true });
    });

    test.each([
      ["fails", "failed", /the container ended with exit code 3/],
      ["skips", "skipped", undefined],
      ["absent", "failed", /could not start the container \(exit code 125\): docker: .*(No such image|absent)/],
      ["unknown", "failed", /cannot be run in the image \(exit code 127\): .*no-such-program/],
    ])("that %s ends its task as %s", async (id, state, reason) => {
      await trigger(id);
      expect((await fleet.ended(`box_${id}`, "r")).tasks).toEqual({ only: state });
      if (reason !== undefined) expect(await reasonOf(id)).toMatch(reason);
      expect(await left()).toBe("");
    });

    test("gets SIGTERM when its task is stopped, may clean up, and is removed", async () => {
      await trigger("waits");
      await begun("waits");
      await fleet.command(["tasks", "stop", "box_waits", "only", "-r", "r", "-y"]);
      expect((await fleet.ended("box_waits", "r")).tasks).toEqual({ only: "failed" });
      await gone("the container is removed");
      expect(await logOf("waits")).toContain("cleaned up");
    });

    test("that somebody else kills fails its task and says so", async () => {
      await trigger("killed");
      await begun("killed");
      await docker("kill", await left());
      expect((await fleet.ended("box_killed", "r")).tasks).toEqual({ only: "failed" });
      expect(await reasonOf("killed")).toMatch(/exit code 137: it was killed/);
    });

    test("that does not hear SIGTERM is killed", async () => {
      await trigger("deaf");
      await begun("deaf");
      await fleet.command(["tasks", "stop", "box_deaf", "only", "-r", "r", "-y"]);
      expect((await fleet.ended("box_deaf", "r")).tasks).toEqual({ only: "failed" });
      await gone("the container is removed");
    });

    test("goes with the process that runs its attempt, also when that is killed, with the file of its variables", async () => {
      await trigger("lost");
      await begun("lost");
      const files = async () =>
        (await exec("sh", ["-c", `ls -d ${tmpdir()}/millrace-env-* 2>/dev/null || true`])).stdout.trim();
      expect(await files()).not.toBe("");
      const parents = (await exec("ps", ["-eo", "pid=,ppid=,args="])).stdout.split("\n");
      const children = parents.filter((line) => Number(line.trim().split(/\s+/)[1]) === worker.pid);
      expect(children.length).toBeGreaterThan(0);
      for (const line of children) process.kill(Number(line.trim().split(/\s+/)[0]), "SIGKILL");
      await gone("the container is removed");
      await waitUntil(async () => (await files()) === "", { what: "the file is removed", timeoutMs: 10_000 });
      await waitUntil(
        async () =>
          (await fleet.query("select from task_instance where dag_id = 'box_lost' and state = 'up_for_retry'"))
            .length === 1,
        { what: "the task is told", timeoutMs: 30_000 },
      );
    });
  });
}
