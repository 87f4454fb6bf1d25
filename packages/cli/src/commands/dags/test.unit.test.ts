import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test as example } from "vitest";
import { runCaptured } from "../../fixtures/capture-io.ts";

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), "millrace-dags-test-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  await mkdir(join(cwd, "dags"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, "dags", name), text);
  return cwd;
}

const GOOD = `import { Dag, getClient } from "@millrace/sdk";
const dag = new Dag("good");
const region = dag.task("region", async () => (await getClient().getVariable("region")) ?? "nowhere")();
dag.task("greet", ({ region }: { region: string }) => { process.stdout.write("hello " + region + "\\n"); })({ region });
`;
const BAD = `import { Dag } from "@millrace/sdk";
interface Unused { readonly a: number }
const dag = new Dag("bad");
dag.task("explode", () => {
  throw new RangeError("too far");
})();
`;

example("a file is run, with its output by task, and ends with 0", async () => {
  const cwd = await folderWith({ "good.ts": GOOD });
  const { code, out } = await runCaptured(["dags", "test", "dags/good.ts"], { MILLRACE_VAR_REGION: "eu" }, cwd);
  expect(out).toContain("greet | hello eu");
  expect(out).toMatch(/good success in \d/);
  expect(code).toBe(0);
});

const SECRETS = `import { Dag, getClient, mask } from "@millrace/sdk";
const dag = new Dag("secretive");
dag.task("tells", async () => {
  const client = getClient();
  const token = await client.getVariableOrThrow("api_token");
  const { password } = await client.getConnectionOrThrow("dwh");
  mask("by-hand-1");
  process.stdout.write(["has", token, password, "by-hand-1", await client.getVariable("region")].join(" ") + "\\n");
  throw new Error("refused " + token);
})();
`;

example("values come from each place but the database, in order, and secrets are masked", async () => {
  const cwd = await folderWith({ "secretive.ts": SECRETS });
  await writeFile(join(cwd, "variables.json"), '{"region": "of the file", "api_token": "t0k3n-of-the-file"}');
  const env = {
    MILLRACE__SECRETS__VARIABLES_FILE_PATH: join(cwd, "variables.json"),
    MILLRACE_VAR_API_TOKEN: "t0k3n-of-the-environment",
    MILLRACE_CONN_DWH: "postgres://ada:hunter22-pw@db.example/sales",
  };
  const dag = await runCaptured(["dags", "test", "dags/secretive.ts"], env, cwd);
  const task = await runCaptured(["tasks", "test", "dags/secretive.ts", "tells"], env, cwd);
  for (const { code, out, notes } of [dag, task]) {
    expect(out).toContain("has *** *** *** of the file");
    expect(out).toContain("Error: refused ***");
    for (const secret of ["t0k3n-of", "hunter22-pw", "by-hand-1"]) expect(out + notes).not.toContain(secret);
    expect(code).toBe(1);
  }
});

example("a DAG is found by its id in the DAG folder", async () => {
  const cwd = await folderWith({ "good.ts": GOOD, "bad.ts": BAD, "broken.ts": "import {" });
  const { code, out } = await runCaptured(["dags", "test", "good"], { MILLRACE__CORE__DAGS_FOLDER: "dags" }, cwd);
  expect(out).toContain("greet | hello nowhere");
  expect(code).toBe(0);
  const missing = await runCaptured(["dags", "test", "nope"], { MILLRACE__CORE__DAGS_FOLDER: "dags" }, cwd);
  expect(missing).toMatchObject({ code: 1, notes: expect.stringContaining("There is no DAG nope") as unknown });
});

example("a failed run ends with 1 and shows where in the file it failed", async () => {
  const cwd = await folderWith({ "bad.ts": BAD });
  const { code, out } = await runCaptured(["dags", "test", "dags/bad.ts"], {}, cwd);
  expect(out).toContain("explode failed in try 1\n  RangeError: too far\n      at ");
  expect(out).toContain("dags/bad.ts:5:9");
  expect(out).toMatch(/bad failed in .*: failed explode/);
  expect(code).toBe(1);
});

example("a file with several DAGs asks which one", async () => {
  const cwd = await folderWith({ "two.ts": `${GOOD}new Dag("other");\n` });
  const asked = await runCaptured(["dags", "test", "dags/two.ts"], {}, cwd);
  expect(asked).toMatchObject({ code: 2, notes: expect.stringContaining("--dag: good, other") as unknown });
  expect((await runCaptured(["dags", "test", "dags/two.ts", "--dag", "other"], {}, cwd)).code).toBe(0);
});

example.each([
  ["syntax.ts", "const a = ;\n", "syntax.ts:1:11: Unexpected"],
  [
    "throws.ts",
    `import { Dag } from "@millrace/sdk";\nnew Dag("x");\nthrow new Error("at import");\n`,
    "dags/throws.ts:3:7",
  ],
  ["none.ts", `import { Dag } from "@millrace/sdk";\nexport const d = Dag;\n`, "it constructs no DAG"],
  ["unplaced.ts", `import { Dag } from "@millrace/sdk";\nconst d = new Dag("c");\nd.task("t", () => 1);\n`, "t"],
])("a file that cannot be used ends with 1 and names the place: %s", async (name, text, message) => {
  const cwd = await folderWith({ [name]: text });
  const { code, notes } = await runCaptured(["dags", "test", `dags/${name}`], {}, cwd);
  expect(notes).toContain(`${name} cannot be used as a DAG file`);
  expect(notes).toContain(message);
  expect(code).toBe(1);
});

example(
  "with DAG files from git the id is looked for in what was fetched here, and else it is said what to do",
  async () => {
    const cwd = await folderWith({});
    const env = { MILLRACE__DAGS_GIT__URL: "https://git.example/dags.git", MILLRACE__DAGS_GIT__SUBDIRECTORY: "flows" };
    const nothing = await runCaptured(["dags", "test", "good"], env, cwd);
    expect(nothing).toMatchObject({ code: 2, out: "" });
    expect(nothing.notes).toMatch(
      /come from a git repository .*dags-git\/current\/flows does not exist.*path of a file/,
    );
    await mkdir(join(cwd, "dags-git/trees/c1/flows"), { recursive: true });
    await writeFile(join(cwd, "dags-git/trees/c1/flows/good.ts"), GOOD);
    await symlink("trees/c1", join(cwd, "dags-git/current"));
    const { code, out } = await runCaptured(["dags", "test", "good"], env, cwd);
    expect(out).toContain("greet | hello nowhere");
    expect(code).toBe(0);
  },
);

example("a mapped task may have as many instances as the configuration says", async () => {
  const cwd = await folderWith({
    "wide.ts": `import { Dag } from "@millrace/sdk";
new Dag("wide").task("each", ({ n }: { n: number }) => n).expand({ n: [1, 2, 3] });
`,
  });
  const run = async (max: string) =>
    await runCaptured(["dags", "test", "dags/wide.ts"], { MILLRACE__CORE__MAX_MAP_LENGTH: max }, cwd);
  expect((await run("3")).code).toBe(0);
  expect(await run("2")).toMatchObject({
    code: 1,
    out: expect.stringContaining("3 instances, more than 2") as unknown,
  });
});
