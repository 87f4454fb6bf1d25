import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { OPTIONS } from "@millrace/shared/config";
import { ERRORS } from "@millrace/shared/errors";
import { RUN_TRANSITIONS, TASK_STATES, TASK_TRANSITIONS } from "@millrace/shared/model";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const page = (name: string): string => readFileSync(join(ROOT, "docs", "reference", name), "utf8");

/** The first cell of each row of a page's tables. */
const firstCells = (text: string): string[] => [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell]) => cell ?? "");

test("the generated pages of docs/reference are what the code says", async () => {
  const args = ["--import", "./packages/cli/bin/register.mjs", "scripts/generate-docs.ts", "--check"];
  const outcome = await promisify(execFile)(process.execPath, args, { cwd: ROOT }).then(
    () => "up to date",
    (error: { stderr: string }) => error.stderr,
  );
  expect(outcome).toBe("up to date");
});

// Independent of the generator: whatever it forgets is missed here.
describe("the pages name everything that there is, and nothing else", () => {
  test("every error, with its statuses", () => {
    const text = page("errors.md");
    expect(firstCells(text)).toEqual(Object.keys(ERRORS).sort());
    for (const [code, { httpStatus, exitCode }] of Object.entries(ERRORS)) {
      expect(text).toMatch(new RegExp(`\`${code}\` \\|.*\\| ${httpStatus} \\| ${exitCode} \\|`));
    }
  });

  test("every option, with its name in the environment", () => {
    const text = page("config.md");
    const options = Object.entries(OPTIONS).flatMap(([section, entries]) =>
      Object.keys(entries).map((name) => ({ section, name })),
    );
    expect(firstCells(text)).toEqual(options.map(({ name }) => name));
    for (const { section, name } of options) {
      expect(text).toContain(`| \`${name}\` | \`MILLRACE__${section.toUpperCase()}__${name.toUpperCase()}\` |`);
    }
  });

  test("every state and every change of a task instance and of a run", () => {
    const text = page("states.md");
    for (const state of TASK_STATES) expect(firstCells(text)).toContain(state);
    for (const { from, to, why } of [...TASK_TRANSITIONS, ...RUN_TRANSITIONS]) {
      const rows = text.split("\n").filter((line) => line.includes(`| \`${to}\` |`) && line.endsWith(`| ${why} |`));
      expect(rows.some((row) => (row.split("|")[1] ?? "").includes(`\`${from}\``))).toBe(true);
    }
  });
});
