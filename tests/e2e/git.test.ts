// DAG code from a git repository, with every process on its own: which code a run has, before and after the repository
// changes, and after a clear onto the newest version.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { testDatabase, testRedisUrl, waitUntil } from "@millrace/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
const run = promisify(execFile);
let fleet: Fleet;
let folder = "";

const git = async (...args: readonly string[]) => {
  const author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"];
  return (await run("git", ["-C", join(folder, "clone"), ...author, ...args], { encoding: "utf8" })).stdout.trim();
};
/** Pushes the DAG `fromgit`, whose task returns `text` with the help of another file and of a package. */
async function push(text: string): Promise<string> {
  const dags = join(folder, "clone", "pipelines");
  await mkdir(dags, { recursive: true });
  await writeFile(
    join(dags, "text.ts"),
    `import { z } from "zod";\nexport const text = z.string().parse("${text}");\n`,
  );
  await writeFile(
    join(dags, "fromgit.ts"),
    `import { Dag } from "@millrace/sdk";
import { text } from "./text.ts";
const dag = new Dag("fromgit", { isPausedUponCreation: false });
dag.task("say", () => text)();
`,
  );
  await git("add", "-A");
  await git("commit", "-q", "-m", text);
  await git("push", "-q", "origin", "HEAD:main");
  return await git("rev-parse", "HEAD");
}

const read = async (commit: string) =>
  await waitUntil(
    async () => (await fleet.query("select from dag_version where bundle_version = $1", [commit])).length === 1,
    { what: `commit ${commit} is read`, timeoutMs: 40_000 },
  );
const said = async (runId: string) => {
  expect(await fleet.ended("fromgit", runId)).toMatchObject({ state: "success" });
  const [row] = await fleet.query<{ value: unknown; commit: string }>(
    `select x.value, r.bundle_version as commit from dag_run r join xcom x on x.dag_run_id = r.id where r.run_id = $1`,
    [runId],
  );
  return row;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-e2e-git-"));
  await run("git", ["init", "--quiet", "--bare", "--initial-branch=main", join(folder, "remote.git")]);
  await run("git", ["clone", "--quiet", join(folder, "remote.git"), join(folder, "clone")]);
  fleet = await openFleet(database, redisUrl, database.url, {
    MILLRACE__DAGS_GIT__URL: join(folder, "remote.git"),
    MILLRACE__DAGS_GIT__SUBDIRECTORY: "pipelines",
    MILLRACE__DAGS_GIT__INTERVAL: "1",
  });
}, 60_000);
afterAll(async () => {
  await fleet.close();
  await rm(folder, { recursive: true, force: true });
});

describe("DAG code from git", { timeout: 180_000 }, () => {
  it("is that of the commit with which a run began, until the run is cleared onto the newest version", async () => {
    const one = await push("first");
    await Promise.all(["dag-processor", "scheduler", "worker"].map((name) => fleet.start([name])));
    await read(one);
    await fleet.command(["dags", "trigger", "fromgit", "-r", "r1"]);
    expect(await said("r1")).toEqual({ value: "first", commit: one });

    const two = await push("second");
    await read(two);
    await fleet.command(["tasks", "clear", "fromgit", "-r", "r1", "-y"]);
    expect(await said("r1")).toEqual({ value: "first", commit: one });
    await fleet.command(["tasks", "clear", "fromgit", "-r", "r1", "-y", "--run-on-latest-version"]);
    await waitUntil(async () => (await said("r1"))?.value === "second", { what: "the newest code has run" });
    expect(await said("r1")).toEqual({ value: "second", commit: two });

    const versions = JSON.parse(
      (await fleet.command(["dags", "versions", "fromgit", "-o", "json"])).join("\n"),
    ) as unknown;
    expect(versions).toMatchObject([
      { version: 2, commit: two },
      { version: 1, commit: one },
    ]);
    expect((await fleet.command(["dags", "source", "fromgit", "--version-number", "1"])).join("\n")).toContain(
      'new Dag("fromgit"',
    );
  });
});
