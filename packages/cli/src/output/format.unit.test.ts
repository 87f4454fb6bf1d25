import { expect, test } from "vitest";
import { captureIo } from "../fixtures/capture-io.ts";
import { printList, type Column, type Format } from "./format.ts";

interface Row {
  readonly id: string;
  readonly at: Date | null;
  readonly tags: readonly string[];
}

const COLUMNS: readonly Column<Row>[] = [
  { key: "dag_id", value: (row) => row.id },
  { key: "start_date", value: (row) => row.at },
  { key: "tags", value: (row) => row.tags, for: "programs" },
];
const ROWS: readonly Row[] = [
  { id: "a: b", at: new Date("2026-01-31T08:00:00.250Z"), tags: ["x", "y"] },
  { id: "long name", at: null, tags: [] },
];

async function print(format: Format, rows = ROWS) {
  const { io, captured } = captureIo();
  await printList(io, format, COLUMNS, rows);
  return captured();
}

test("json has every column, ISO instants and null for what is missing", async () => {
  expect(JSON.parse((await print("json")).out)).toEqual([
    { dag_id: "a: b", start_date: "2026-01-31T08:00:00.250Z", tags: ["x", "y"] },
    { dag_id: "long name", start_date: null, tags: [] },
  ]);
  expect((await print("json", [])).out).toBe("[]\n");
});

test("yaml holds the same values, each quoted so that none is taken for another type", async () => {
  expect((await print("yaml")).out).toBe(`- dag_id: "a: b"
  start_date: "2026-01-31T08:00:00.250Z"
  tags: ["x","y"]
- dag_id: "long name"
  start_date: null
  tags: []
`);
  expect((await print("yaml", [])).out).toBe("[]\n");
});

test("plain is aligned, without drawing, and leaves out what is for programs", async () => {
  expect((await print("plain")).out).toBe(`dag_id     start_date
a: b       2026-01-31T08:00:00Z
long name  -
`);
});

test("a table has titles in words, and nothing at all is a note", async () => {
  expect((await print("table")).out.split("\n")[0]).toBe("dag id     start date");
  expect(await print("table", [])).toEqual({ out: "", notes: "nothing to list\n" });
});
