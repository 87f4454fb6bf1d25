// DAG files from real git repositories, by path and over HTTP.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { testDatabase, waitUntil } from "@millrace/testkit";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { DagVersions, triggerRun } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { DagProcessor } from "../dag-processor.ts";
import { dagFile } from "../fixtures/dag-folder.ts";
import { gitServer, serve, testRepository, type TestRepository } from "../fixtures/git-repository.ts";
import { openTestDatabase, readDags, readImportErrors, testConfig } from "../fixtures/records.ts";

const database = await testDatabase();
const db = openTestDatabase(database);
beforeEach(() => database.reset());

function processorOf(
  repository: Pick<TestRepository, "url" | "fetched">,
  options: Readonly<Record<string, unknown>> = {},
) {
  const overrides = {
    "dags_git.url": repository.url,
    "dags_git.folder": repository.fetched,
    "dags_git.interval": 1,
    ...options,
  };
  const lines: string[] = [];
  const log = createLogger({ level: "debug", name: "test", destination: { write: (line) => void lines.push(line) } });
  const processor = new DagProcessor({ db, config: testConfig(overrides), log });
  onTestFinished(() => processor.stop());
  return { processor, lines };
}

/** By DAG: the commits of its versions, the oldest first, then the one at which it was read last. */
const commits = async () =>
  Object.fromEntries(
    (
      await db.read<{ dag_id: string; all: string[]; last: string }>(
        `select dag_id, bundle_version as last, array(select v.bundle_version from dag_version v where v.dag_id = d.dag_id
           order by version_number) as all from dag d order by 1`,
      )
    ).map((row) => [row.dag_id, [...row.all, row.last]]),
  );

describe("DAG files of a git repository", () => {
  test("are those of the ref, and each version knows its commit, as does a run of it", async () => {
    const repository = await testRepository();
    const one = await repository.push({ "a.ts": dagFile("a"), "b.ts": dagFile("b"), "lib/c.ts": dagFile("c") });
    const { processor } = processorOf(repository);
    await processor.processOnce();
    expect(await commits()).toEqual({ a: [one, one], b: [one, one], c: [one, one] });
    await triggerRun(db, new DagVersions(db), { dagId: "a", triggeredBy: "cli", user: "ada" });
    expect(await db.read("select bundle_version from dag_run")).toEqual([{ bundle_version: one }]);
    expect(await db.read("select version from dag_bundle")).toEqual([{ version: one }]);

    const two = await repository.push({ "a.ts": dagFile("a", "{}", ["hello", "again"]), "b.ts": null });
    await processor.processOnce();
    expect(await commits()).toEqual({ a: [one, two, two], b: [one, one], c: [one, two] });
    expect(await readDags(db)).toMatchObject({ b: { isStale: true }, c: { versions: [1], isStale: false } });
    const filelocs = await db.read<{ fileloc: string }>("select fileloc from dag order by dag_id");
    expect(filelocs.map(({ fileloc }) => fileloc)).toEqual(
      ["a.ts", "b.ts", "lib/c.ts"].map((file) => join(repository.fetched, "current", file)),
    );
  });

  test("are those of a folder of it, at a branch, a tag or a commit", async () => {
    const repository = await testRepository();
    const one = await repository.push({ "dags/a.ts": dagFile("a"), "other/b.ts": dagFile("b") });
    await repository.git("tag", "v1");
    await repository.git("push", "-q", "origin", "v1");
    await repository.push({ "dags/a.ts": dagFile("a", "{}", ["newer"]) });
    for (const ref of ["v1", "refs/heads/main", one]) {
      await database.reset();
      const { processor } = processorOf(repository, { "dags_git.ref": ref, "dags_git.subdirectory": "dags" });
      await processor.processOnce();
      expect(Object.keys(await readDags(db))).toEqual(["a"]);
      if (ref !== "refs/heads/main") expect(await commits()).toMatchObject({ a: [one, one] });
    }
  });

  test("follow a branch whose history was rewritten, also back to what they were", async () => {
    const repository = await testRepository();
    const one = await repository.push({ "a.ts": dagFile("a") });
    const { processor } = processorOf(repository);
    await processor.processOnce();
    await repository.git("commit", "-q", "--amend", "-m", "another history");
    const two = await repository.push({ "a.ts": dagFile("a", "{}", ["other"]) });
    await processor.processOnce();
    await repository.git("push", "-q", "--force", "origin", `${one}:main`);
    await processor.processOnce();
    expect(await commits()).toEqual({ a: [one, two, one, one] });
  });

  test("stay as they are while the ref is gone, and the reason stands among the import errors", async () => {
    const repository = await testRepository();
    const one = await repository.push({ "a.ts": dagFile("a") });
    const { processor } = processorOf(repository);
    await processor.processOnce();
    await repository.git("push", "-q", "--force", "origin", "main:other");
    await repository.git("--git-dir", repository.url, "update-ref", "-d", "refs/heads/main");
    await processor.processOnce();
    expect(await readDags(db)).toMatchObject({ a: { isStale: false, hasImportErrors: false } });
    expect((await readImportErrors(db))["(git)"]).toMatch(
      new RegExp(
        `^Ref main of .*remote.git could not be fetched:\n.*ref main\nThe DAGs stay as they are at commit ${one.slice(0, 12)}`,
      ),
    );
    await repository.push({ "a.ts": dagFile("a", "{}", ["more"]) });
    await processor.processOnce();
    expect(await readImportErrors(db)).toEqual({});
    expect(await readDags(db)).toMatchObject({ a: { versions: [1, 2] } });
  });

  test("are not found by the first characters of a commit, which is said", async () => {
    const repository = await testRepository();
    const one = await repository.push({ "a.ts": dagFile("a") });
    const { processor } = processorOf(repository, { "dags_git.ref": one.slice(0, 10) });
    await expect(processor.processOnce()).rejects.toThrow("by all of its characters, not by its first ones");
  });

  test("that are not there at the start are waited for, and then read without a restart", async () => {
    const repository = await testRepository();
    const { processor } = processorOf(repository);
    await expect(processor.processOnce()).rejects.toMatchObject({ code: "DAGS_GIT_FAILED" });
    await processor.start();
    await waitUntil(async () => "(git)" in (await readImportErrors(db)), { what: "the reason is told" });
    const one = await repository.push({ "a.ts": dagFile("a") });
    await waitUntil(async () => (await commits())["a"]?.[0] === one, { what: "the first commit is read" });
    const two = await repository.push({ "a.ts": dagFile("a", "{}", ["next"]) });
    await waitUntil(async () => (await commits())["a"]?.[1] === two, { what: "the next one is read" });
    expect(await readImportErrors(db)).toEqual({});
  });

  test("of an earlier fetch serve a start without the remote, unless others have read a newer commit", async () => {
    const repository = await testRepository();
    const one = await repository.push({ "a.ts": dagFile("a") });
    const [gone, elsewhere] = [
      { ...repository, url: "/nowhere.git" },
      { ...repository, fetched: `${repository.fetched}-2` },
    ];
    await processorOf(repository).processor.processOnce();
    await db.read("delete from dag");
    await processorOf(gone).processor.processOnce();
    expect(await commits()).toEqual({ a: [one, one] });
    const two = await repository.push({ "a.ts": dagFile("a", "{}", ["newer"]) });
    await processorOf(elsewhere).processor.processOnce();
    await expect(processorOf(gone).processor.processOnce()).rejects.toMatchObject({ code: "DAGS_GIT_FAILED" });
    expect(await commits()).toEqual({ a: [one, two, two] });
  });

  test("of old commits are cleared away, and nothing half done is left", async () => {
    const repository = await testRepository();
    const { processor } = processorOf(repository);
    let last = "";
    for (let i = 0; i < 5; i++) {
      last = await repository.push({ "a.ts": dagFile("a", "{}", [`t${i}`]) });
      await processor.processOnce();
    }
    const trees = await readdir(join(repository.fetched, "trees"));
    expect(trees).toHaveLength(3);
    expect(trees).toContain(last);
    expect(trees.filter((name) => name.startsWith("."))).toEqual([]);
  });
});

describe("over HTTP", () => {
  /** Takes the place of `ssh`: keeps its arguments and runs what the remote machine is asked to, here. */
  async function fakeSsh(): Promise<{ readonly program: string; readonly called: () => Promise<string> }> {
    const folder = await mkdtemp(join(tmpdir(), "millrace-ssh-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const [program, calls] = [join(folder, "ssh"), join(folder, "calls")];
    await writeFile(program, `#!/bin/sh\necho "$*" >> ${calls}\nfor last; do :; done\nexec sh -c "$last"\n`, {
      mode: 0o755,
    });
    return { program, called: async () => await readFile(calls, "utf8") };
  }

  test("come by ssh, with the command of the environment or with a key of one's own", async () => {
    const repository = await testRepository();
    const one = await repository.push({ "a.ts": dagFile("a") });
    const { program, called } = await fakeSsh();
    const url = `ssh://git@git.example:2222${repository.url}`;
    vi.stubEnv("GIT_SSH_COMMAND", program);
    onTestFinished(() => void vi.unstubAllEnvs());
    await processorOf({ ...repository, url }).processor.processOnce();
    expect(await commits()).toEqual({ a: [one, one] });
    expect(await called()).toMatch(/-p 2222 git@git\.example git-upload-pack '.*remote\.git'/);

    const two = await repository.push({ "b.ts": dagFile("b") });
    vi.stubEnv("PATH", `${dirname(program)}:${process.env["PATH"] ?? ""}`);
    const scp = { ...repository, fetched: `${repository.fetched}-2`, url: `git@git.example:${repository.url}` };
    await processorOf(scp, { "dags_git.ssh_key": "/keys/it's mine" }).processor.processOnce();
    expect(await commits()).toMatchObject({ b: [two, two] });
    expect(await called()).toContain("-o BatchMode=yes -i /keys/it's mine -o IdentitiesOnly=yes");
  });

  test("with submodules are read without them, and that is said", async () => {
    const repository = await testRepository();
    await repository.push({ "a.ts": dagFile("a"), ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = ../x\n' });
    const { processor, lines } = processorOf(repository);
    await processor.processOnce();
    expect(await readDags(db)).toMatchObject({ a: { versions: [1] } });
    expect(lines.join("")).toContain("the repository has submodules, which are not fetched");
  });

  const PASSWORD = "s3cr3t-p%40ss";

  test("the credentials of the URL open the repository, and stand in no row, no line and no argument", async () => {
    const repository = await testRepository();
    await repository.push({ "a.ts": dagFile("a") });
    await repository.git("--git-dir", repository.url, "config", "http.uploadpack", "true");
    const host = await gitServer(join(repository.url, ".."), "ada:s3cr3t-p@ss");
    const { processor, lines } = processorOf({ ...repository, url: `http://ada:${PASSWORD}@${host}/remote.git` });
    await processor.processOnce();
    expect(await readDags(db)).toMatchObject({ a: { versions: [1] } });

    const wrong = processorOf({
      fetched: `${repository.fetched}-2`,
      url: `http://ada:${PASSWORD}x@${host}/remote.git`,
    });
    const failed = await wrong.processor.processOnce().catch((error: unknown) => String(error));
    const told = (await readImportErrors(db))["(git)"] ?? "";
    expect(told).toContain(`Ref main of http://${host}/remote.git could not be fetched`);
    expect(told).toMatch(/Authentication failed|could not read/);
    const rows = await db.read(
      "select row_to_json(e) as row from import_error e union all select row_to_json(d) from dag d",
    );
    for (const text of [String(failed), told, JSON.stringify(rows), ...lines, ...wrong.lines]) {
      expect(text).not.toContain("s3cr3t");
      expect(text).not.toContain("ada:");
    }
  });

  test("a server that does not answer is given up, while the DAGs that are known go on", async () => {
    let asked = 0;
    const host = await serve(() => void (asked += 1));
    const repository = await testRepository();
    const { processor } = processorOf({ ...repository, url: `http://${host}/x.git` }, { "dags_git.timeout": 1 });
    await expect(processor.processOnce()).rejects.toMatchObject({ code: "DAGS_GIT_FAILED" });
    expect(asked).toBe(1);
    expect((await readImportErrors(db))["(git)"]).toMatch(/took longer than 1 s\nThere are no DAG files yet/);
  });
});
