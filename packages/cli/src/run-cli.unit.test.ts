import { describe, expect, test } from "vitest";
import { COMMANDS } from "./commands/index.ts";
import { runCaptured } from "./fixtures/capture-io.ts";

const NOBODY_THERE = "postgres://millrace:secret@127.0.0.1:1/millrace";

describe("help", () => {
  test("names every command once, in groups, and ends with 0", async () => {
    const { code, out } = await runCaptured(["--help"]);
    expect(code).toBe(0);
    for (const { name, heading } of COMMANDS) {
      expect(out).toContain(heading);
      expect(out.match(new RegExp(`^  ${name} `, "gm"))).toHaveLength(1);
    }
  });

  test.each(COMMANDS.map((entry) => entry.name))("of %s has a line about it and an example", async (name) => {
    const { code, out } = await runCaptured(["help", name]);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^Usage: millrace ${name}`));
    expect(out).toContain("Examples:");
  });

  test("of a command in a group has its arguments, options and examples", async () => {
    const { out } = await runCaptured(["dags", "trigger", "--help"]);
    expect(out).toContain("Usage: millrace dags trigger [options] <dag>");
    expect(out).toContain("--logical-date <date>");
    expect(out).toContain("$ millrace dags trigger hello --wait");
  });
});

describe("wrong use ends with 2 and says what was meant", () => {
  test.each([
    [["dgas"], "Did you mean dags?"],
    [["dags", "lst"], "Did you mean list?"],
    [["dags", "list", "--outptu", "json"], "Did you mean --output?"],
    [["dags", "list", "-o", "xml"], "table, json, yaml, plain"],
    [["dags", "trigger"], "missing required argument 'dag'"],
    [["dags", "trigger", "hello", "-c", "[1]"], "Give a JSON object"],
    [["dags", "trigger", "hello", "-c", "{"], "It is not JSON"],
    [["dags", "trigger", "hello", "-l", "yesterday"], "Give a date"],
    [["worker", "--concurrency", "0"], "Give a whole number from 1 to 10000"],
    [["pools", "delete", "default_pool"], "default_pool cannot be deleted"],
    [["config", "get-value", "core", "nothing"], "there is no option core.nothing"],
  ])("%j", async (argv, message) => {
    const { code, out, notes } = await runCaptured(argv);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(notes).toContain(message);
  });

  test("a group without a command shows its help", async () => {
    const { code, notes } = await runCaptured(["dags"]);
    expect(code).toBe(2);
    expect(notes).toContain("list-import-errors");
  });
});

describe("what stands in the way of a command", () => {
  test("a missing database address is a configuration error that names the variable", async () => {
    const { code, notes } = await runCaptured(["dags", "list"]);
    expect(code).toBe(2);
    expect(notes).toContain("MILLRACE__DATABASE__URL");
  });

  test("every bad setting is named at once", async () => {
    const { code, notes } = await runCaptured(["dags", "list"], {
      MILLRACE__CORE__PARALLELISM: "many",
      MILLRACE__CORE__PARALELISM: "3",
    });
    expect(code).toBe(2);
    expect(notes).toContain('MILLRACE__CORE__PARALLELISM is "many"');
    expect(notes).toContain("MILLRACE__CORE__PARALELISM is not an option");
  });

  test.each([[["dags", "list"]], [["db", "check"]], [["db", "migrate"]], [["tasks", "list", "hello"]]])(
    "%j: a database that cannot be reached ends with 3 and one message without the password",
    async (argv) => {
      const { code, out, notes } = await runCaptured(argv, { MILLRACE__DATABASE__URL: NOBODY_THERE });
      expect({ code, out }).toEqual({ code: 3, out: "" });
      expect(notes.match(/^error: /gm)).toHaveLength(1);
      expect(notes).toContain("Cannot reach Postgres at postgres://millrace:***@127.0.0.1:1/millrace");
      expect(notes).not.toContain("secret");
    },
  );
});

test("version prints the version of the package", async () => {
  for (const argv of [["version"], ["--version"]]) {
    expect(await runCaptured(argv)).toEqual({ code: 0, out: "0.1.0\n", notes: "" });
  }
});

test("config shows what is set and covers secrets unless they are asked for", async () => {
  const env = { MILLRACE__DATABASE__URL: NOBODY_THERE, MILLRACE__API__PORT: "9090" };
  const hidden = await runCaptured(["config", "list", "-o", "json"], env);
  const rows = JSON.parse(hidden.out) as { section: string; option: string; value: unknown }[];
  const valueOf = (name: string) => rows.find((row) => `${row.section}.${row.option}` === name)?.value;
  expect(valueOf("database.url")).toBe("***");
  expect(valueOf("api.port")).toBe(9090);
  expect(valueOf("workers.queues")).toEqual(["default"]);
  expect((await runCaptured(["config", "get-value", "api", "port"], env)).out).toBe("9090\n");
});
