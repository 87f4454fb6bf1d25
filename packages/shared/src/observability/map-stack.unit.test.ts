import { expect, test } from "vitest";
import { mapStack } from "./map-stack.ts";

const HASH = "ab".repeat(32);

/** A map by which line n of the bundle is line n of the source. */
const mapOf = (source: string): string =>
  JSON.stringify({ version: 3, sources: [source], sourcesContent: [null], names: [], mappings: "AAAA;AACA;AACA;AACA" });

const at = (file: string, place: string, name?: string): string =>
  name === undefined ? `    at ${file}:${place}` : `    at ${name} (${file}:${place})`;
const BUNDLE = `file:///tmp/${HASH}.mjs`;

test("frames of the bundle are at the author's line, named or not, awaited or not", () => {
  const stack = [
    "Error: x",
    "second line",
    at(BUNDLE, "2:9", "fails"),
    at(BUNDLE, "2:9", "async Object.run [as go]"),
    at(`async ${BUNDLE}`, "4:1"),
    at(BUNDLE, "3:7", "<anonymous>"),
  ];
  expect(mapStack(stack.join("\n"), mapOf("dags/a.ts"))).toBe(
    [
      "Error: x",
      "second line",
      "    at fails (dags/a.ts:2:1)",
      "    at async Object.run [as go] (dags/a.ts:2:1)",
      "    at dags/a.ts:4:1",
      "    at dags/a.ts:3:1",
    ].join("\n"),
  );
});

test("what is around the bundle is left out: Node, the process that runs it, the SDK", () => {
  const around = [
    at("node:internal/timers", "581:17", "listOnTimeout"),
    at("/work/child.mjs", "2:9", "main"),
    "    at new Promise (<anonymous>)",
  ];
  expect(mapStack(["Error: x", at(BUNDLE, "2:9"), ...around].join("\n"), mapOf("a.ts"))).toBe(
    "Error: x\n    at a.ts:2:1",
  );
  expect(mapStack(`Error: x\n${at(BUNDLE, "2:9")}`, mapOf("@millrace/sdk/src/dag.ts"))).toBe("Error: x");
});

test("files are named from the DAG folder when the place of the DAG file in it is given", () => {
  const stack = `Error: x\n${at(BUNDLE, "2:9")}`;
  expect(mapStack(stack, mapOf("../lib/b.ts"), { folder: "team" })).toBe("Error: x\n    at lib/b.ts:2:1");
});

test("a bundle under another name is still mapped", () => {
  expect(mapStack(`Error: x\n${at("/tmp/code.mjs", "2:9", "fails")}`, mapOf("a.ts"))).toBe(
    "Error: x\n    at fails (a.ts:2:1)",
  );
});
