import { describe, expect, test } from "vitest";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { dagFile, testDagFolder } from "../fixtures/dag-folder.ts";
import { bundleDagFile } from "./bundle-dag-file.ts";
import { formatProblem, type DagBundle } from "./dag-bundle.ts";

async function bundled(path: string): Promise<DagBundle> {
  const result = await bundleDagFile(path);
  if ("problems" in result) throw new Error(result.problems.map(formatProblem).join("\n"));
  return result;
}

const problemsOf = async (path: string): Promise<string[]> => {
  const result = await bundleDagFile(path);
  return "problems" in result ? result.problems.map(formatProblem) : [];
};

async function withPackages(folder: string, ...names: readonly string[]): Promise<void> {
  const installed = fileURLToPath(new URL("../../../../../node_modules/", import.meta.url));
  await mkdir(join(folder, "node_modules"));
  for (const name of names) await symlink(join(installed, name), join(folder, "node_modules", name));
}

describe("the bundle of a DAG file", () => {
  test("holds nothing of the testing entry, and a file that asks for it is refused", async () => {
    const folder = await testDagFolder({
      "plain.ts": `import { Dag } from "@millrace/sdk";\nnew Dag("plain");`,
      "testing.ts": `import { simulate } from "@millrace/sdk/testing";\nsimulate;`,
    });
    const { code } = await bundled(join(folder.path, "plain.ts"));
    expect(code).not.toMatch(/src\/testing|shared\/src|croner|temporal/);
    const [problem] = await problemsOf(join(folder.path, "testing.ts"));
    expect(problem).toContain('"@millrace/sdk/testing" is for tests');
  });

  test("has the same hash in another folder, packages and local imports included", async () => {
    const files = {
      "etl.ts": `import { Dag } from "@millrace/sdk";\nimport pg from "pg";\nimport { name } from "./lib/name";\nnew Dag(name);\nexport { pg };`,
      "lib/name.ts": `export const name: string = "etl";`,
    };
    const here = await testDagFolder(files);
    const deeper = await testDagFolder(
      Object.fromEntries(Object.entries(files).map(([file, text]) => [`a/b/${file}`, text])),
    );
    await withPackages(here.path, "pg");
    await withPackages(deeper.path, "pg");
    const one = await bundled(join(here.path, "etl.ts"));
    const other = await bundled(join(deeper.path, "a/b/etl.ts"));
    expect(other.hash).toBe(one.hash);
    expect(one.code).not.toContain(here.path);
    expect(one.code).toContain("// node_modules/pg/");
    expect(one.inputs).toContain(join(here.path, "lib/name.ts"));
  });

  test("is another when only a comment of an import changed, because lines in stacks are others", async () => {
    const folder = await testDagFolder({
      "a.ts": `import { Dag } from "@millrace/sdk";\nimport { x } from "./x.ts";\nnew Dag(x);`,
      "x.ts": `export const x = "a";`,
    });
    const before = await bundled(join(folder.path, "a.ts"));
    await folder.write("x.ts", `// Why.\nexport const x = "a";`);
    expect((await bundled(join(folder.path, "a.ts"))).hash).not.toBe(before.hash);
  });

  test("keeps the names of functions, which are the ids of tasks", async () => {
    const folder = await testDagFolder({
      "a.ts": `import { Dag } from "@millrace/sdk";\nconst dag = new Dag("a");\nconst hi = dag.task(function hi() {});\nhi();`,
    });
    expect((await bundled(join(folder.path, "a.ts"))).code).toMatch(/__name\(function hi2?\(\) *\{\s*\}, "hi"\)/);
  });

  test("takes Airflow's name of the SDK, texts, JSON and files that declare __filename and require themselves", async () => {
    const folder = await testDagFolder({
      "a.ts": `import { Bundle, Dag, VariableNotFoundError } from "apache-airflow-ts-sdk";
import { approval } from "apache-airflow-ts-sdk/hitl";
import { createRequire } from "node:module";
import rows from "./rows.csv";
import query from "./query.sql";
import settings from "./settings.json";
const require = createRequire(import.meta.url);
const __filename = "mine";
new Bundle(new Dag(rows + query + settings.name + __filename + typeof require + typeof approval + VariableNotFoundError.name));`,
      "rows.csv": "day,rain\n",
      "query.sql": "select 1",
      "settings.json": `{ "name": "from json" }`,
    });
    const { code, warnings } = await bundled(join(folder.path, "a.ts"));
    expect(code).toContain("day,rain");
    expect(code).toContain("from json");
    expect(warnings.map((warning) => [warning.line, warning.message])).toEqual([
      [7, expect.stringContaining("its files do not travel with it")],
    ]);
  });

  test("is made of a file in a package that claims to have no side effects", async () => {
    const folder = await testDagFolder({ "package.json": `{ "sideEffects": false }`, "a.ts": dagFile("kept") });
    expect((await bundled(join(folder.path, "a.ts"))).code).toContain(`"kept"`);
  });

  test("leaves native add-ons out and says so", async () => {
    const folder = await testDagFolder({
      "a.ts": `import { Dag } from "@millrace/sdk";\nimport "./fast.node";\nnew Dag("a");`,
    });
    const { warnings, code } = await bundled(join(folder.path, "a.ts"));
    expect(warnings.map((warning) => warning.message)).toEqual([
      expect.stringContaining(`native add-on "./fast.node"`),
    ]);
    expect(code).toContain(`"./fast.node"`);
  });

  test("looks for the add-on of a package under the package's name, wherever that is installed", async () => {
    const folder = await testDagFolder({
      "a.ts": `import { Dag } from "@millrace/sdk";\nimport fast from "fast";\nnew Dag("a").task("t", () => fast())();`,
      "node_modules/fast/package.json": `{ "name": "fast", "main": "lib/index.js" }`,
      "node_modules/fast/lib/index.js": `module.exports = () =>
        process.arch === "arm64" ? require("../build/other.node") : require("../build/fast.node");`,
      "node_modules/fast/build/fast.node": "",
    });
    const { warnings, code } = await bundled(join(folder.path, "a.ts"));
    expect(code).toContain(`"fast/build/fast.node"`);
    expect(code).not.toContain(folder.path);
    expect(warnings.map((warning) => warning.message)).toEqual([expect.stringContaining(`"../build/fast.node"`)]);
    expect(warnings[0]?.message).toContain("(NODE_PATH)");
  });

  test("takes a package that is an add-on, or that requires what is not installed, as it finds it when it runs", async () => {
    const folder = await testDagFolder({
      "a.ts": `import { Dag } from "@millrace/sdk";
import fast from "fast";
new Dag("a").task("t", () => fast())();`,
      "node_modules/fast/package.json": `{ "name": "fast" }`,
      "node_modules/fast/index.js":
        `module.exports = () => require(process.env.WASM ? "fast-wasm" : "fast-linux");` +
        `\nmodule.exports.other = () => require("fast-wasm");\nmodule.exports.own = () => require("fast-linux");`,
      "node_modules/fast-linux/package.json": `{ "name": "fast-linux", "main": "fast.node" }`,
      "node_modules/fast-linux/fast.node": "",
    });
    const { warnings, code } = await bundled(join(folder.path, "a.ts"));
    expect(code).toContain(`"fast-linux/fast.node"`);
    expect(code).toContain(`require("fast-wasm")`);
    expect(code).not.toContain(folder.path);
    expect(warnings.map((warning) => warning.message)).toEqual([
      expect.stringContaining(`native add-on "fast-linux/fast.node"`),
    ]);
  });
});

describe("what is wrong with a file", () => {
  test("has file, line, column and the line itself", async () => {
    const folder = await testDagFolder({ "a.ts": `const x = ;\n` });
    expect(await problemsOf(join(folder.path, "a.ts"))).toEqual([
      `a.ts:1:11: Unexpected ";"\n    const x = ;\n              ^`,
    ]);
  });

  test("is a package that is not installed, or a module that the SDK has not", async () => {
    const folder = await testDagFolder({ "a.ts": `import "not-there";\nimport "@millrace/sdk/none";` });
    const problems = await problemsOf(join(folder.path, "a.ts"));
    expect(problems[0]).toMatch(/^a\.ts:1:8: .*npm install not-there/);
    expect(problems[1]).toMatch(/^a\.ts:2:8: The SDK has no module "@millrace\/sdk\/none"; it has @millrace\/sdk, /);
  });

  test("is that it cannot be read", async () => {
    expect(await problemsOf("/nowhere/a.ts")).toEqual([expect.stringContaining("cannot be read")]);
  });
});
