import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test as example } from "vitest";
import { runCaptured } from "../../fixtures/capture-io.ts";

const FILE = `import { Dag } from "@millrace/sdk";
const dag = new Dag("sums");
const extract = dag.task("extract", () => { throw new Error("not asked for"); })();
dag.task("sum", ({ rows, by }: { rows: number[]; by: number }) => {
  console.log("rows: " + rows.length);
  if (rows.length === 0) throw new RangeError("no rows");
  return rows.reduce((a, b) => a + b, 0) * by;
})({ rows: extract, by: 1 } as never);
`;

async function run(...args: readonly string[]) {
  const cwd = await mkdtemp(join(tmpdir(), "millrace-tasks-test-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  await writeFile(join(cwd, "sums.ts"), FILE);
  return await runCaptured(["tasks", "test", "sums.ts", ...args], {}, cwd);
}

example("one task runs with what is given for its upstream and its argument", async () => {
  const { code, out } = await run("sum", "--upstream", "extract=[1,2,3]", "--input", "by=10");
  expect(out).toContain("returned 60");
  expect(out).toContain("sum success");
  expect(code).toBe(0);
});

example("a failure ends with 1 and shows its place in the file", async () => {
  const { code, out } = await run("sum", "--upstream", "extract=[]");
  expect(out).toContain("RangeError: no rows");
  expect(out).toContain("sums.ts:6");
  expect(code).toBe(1);
});

example("an unknown task and a value that is no JSON are said", async () => {
  expect(await run("summ")).toMatchObject({
    code: 1,
    notes: expect.stringContaining("no task summ; it has extract, sum") as unknown,
  });
  expect(await run("sum", "--upstream", "extract=x")).toMatchObject({ code: 2 });
});

example("a task of a run whose params do not fit does not run", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "millrace-tasks-test-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const file = `import { Dag } from "@millrace/sdk";
const rows = { schema: { type: "integer" } } as const;
new Dag("fits", { params: { rows } }).task("only", () => console.log("it ran"))();`;
  await writeFile(join(cwd, "fits.ts"), file);
  const test = (...more: readonly string[]) => runCaptured(["tasks", "test", "fits.ts", "only", ...more], {}, cwd);
  expect(await test("-c", '{"rows": "x"}')).toMatchObject({
    code: 1,
    out: "",
    notes: expect.stringContaining("rows: must be integer") as unknown,
  });
  expect((await test("-c", `{"rows": 1}`)).out).toContain("only success");
});
