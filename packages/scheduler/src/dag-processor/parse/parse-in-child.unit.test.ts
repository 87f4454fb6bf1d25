import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bundleDagFile } from "../bundle/bundle-dag-file.ts";
import { dagFile, testDagFolder } from "../fixtures/dag-folder.ts";
import { parseInChild, type ParseOptions, type ParseOutcome } from "./parse-in-child.ts";

const SDK = `import { Dag } from "@millrace/sdk";\n`;

async function parse(text: string, options: Partial<ParseOptions> = {}): Promise<ParseOutcome> {
  const folder = await testDagFolder({ "a.ts": text });
  const bundle = await bundleDagFile(join(folder.path, "a.ts"));
  if ("problems" in bundle) throw new Error(JSON.stringify(bundle.problems));
  return await parseInChild(bundle, { timeoutMs: 10_000, memoryMb: 128, ...options });
}

async function failure(text: string, options: Partial<ParseOptions> = {}): Promise<string> {
  const outcome = await parse(text, options);
  return outcome.kind === "failed" ? outcome.message : `not a failure but ${JSON.stringify(outcome)}`;
}

test("gives the DAGs that a file declares, and none for a file that declares none", async () => {
  expect(await parse(dagFile("a"))).toMatchObject({
    kind: "read",
    dags: [{ dagId: "a", spec: { tasks: [{ taskId: "hello" }] } }],
  });
  expect(await parse(`${SDK}export const make = (id: string) => new Dag(id);`)).toMatchObject({
    kind: "read",
    dags: [],
  });
});

test("an error at the top level has the user's file and lines, also of its cause", async () => {
  const message = await failure(`${SDK}
function load(): never {
  throw new Error("no settings", { cause: new TypeError("not a number") });
}
load();`);
  expect(message).toBe(
    [
      "Error: no settings",
      "    at load (a.ts:4:9)",
      "    at a.ts:6:1",
      "Caused by: TypeError: not a number",
      "    at load (a.ts:4:43)",
      "    at a.ts:6:1",
    ].join("\n"),
  );
});

test("files are named from the DAG folder when the place in it is given", async () => {
  expect(await failure(`throw new Error("no");`, { folder: "team/etl" })).toContain("at team/etl/a.ts:1:7");
});

test("an endless loop is stopped at the time limit", async () => {
  expect(await failure("for (;;);", { timeoutMs: 400 })).toMatch(/took longer than 0.4 s and was stopped/);
});

test("process.exit is reported with its place", async () => {
  expect(await failure(`${SDK}process.exit(1);`)).toMatch(/calls process\.exit\(1\)[^]*at a\.ts:2:9/);
});

test("memory is bounded, in the heap and beyond it", async () => {
  const heap = "const all: unknown[] = []; for (;;) all.push(new Array(1_000).fill(0).map(String));";
  expect(await failure(heap)).toMatch(/took more than 128 MiB/);
  const buffers = "const all: unknown[] = []; for (;;) all.push(Buffer.alloc(20_000_000, 1));";
  expect(await failure(buffers)).toMatch(/took more than 128 MiB/);
}, 30_000);

test("a rejection that nobody handles, a thrown string and a wait without an end are failures", async () => {
  expect(await failure(`void Promise.reject(new Error("lost"));`)).toMatch(/^Error: lost\n {4}at a\.ts:1:21$/);
  expect(await failure(`throw "a string";`)).toBe("Thrown, and not an Error: 'a string'");
  expect(await failure("await new Promise(() => undefined);")).toMatch(/awaits something/);
  expect(
    await failure(`process.kill(process.pid, "SIGSEGV");await new Promise(() => setTimeout(() => 0, 9_999));`),
  ).toMatch(/ended by SIGSEGV/);
});

test("a flood of output, open timers and servers do no harm, and little of the output is kept", async () => {
  const outcome = await parse(`${dagFile("a")}
import { createServer } from "node:http";
for (let i = 0; i < 20_000; i++) console.log("x".repeat(100));
createServer().listen(0);
setInterval(() => undefined, 1_000);`);
  expect(outcome).toMatchObject({ kind: "read", dags: [{ dagId: "a" }] });
  expect(outcome.kind === "read" && outcome.output.length).toBeLessThan(20_000);
});

test("the file sees nothing of Millrace's environment", async () => {
  process.env["MILLRACE__DATABASE__URL"] = "postgres://secret";
  onTestFinished(() => {
    delete process.env["MILLRACE__DATABASE__URL"];
  });
  expect(await failure("throw new Error(Object.keys(process.env).sort().join());")).not.toMatch(/MILLRACE|DATABASE/);
});

test("problems of a DAG have the place where it says so", async () => {
  const outcome = await parse(
    `${SDK}const dag = new Dag("a", { shcedule: "@daily" } as object);\ndag.task("never", () => 1);`,
  );
  expect(outcome.kind === "read" && outcome.dags[0]).toMatchObject({
    problems: [
      {
        message: expect.stringMatching(/shcedule.*did you mean "schedule"/),
        stack: expect.stringContaining("at a.ts:2:13"),
      },
      { message: expect.stringContaining("never"), stack: expect.stringContaining("at a.ts:3:5") },
    ],
  });
});

test("what a file started goes with it, and an abort ends it", async () => {
  const stop = new AbortController();
  const outcome = parse("for (;;);", { signal: stop.signal });
  stop.abort();
  expect(await outcome).toEqual({ kind: "stopped" });
});
