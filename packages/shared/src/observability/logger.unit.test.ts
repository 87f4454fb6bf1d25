import { expect, test } from "vitest";
import { createLogger, withoutPassword } from "./index.ts";

function logged(level: string, write: (log: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  write(createLogger({ level, name: "scheduler", destination: { write: (line) => void lines.push(line) } }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("a line is JSON with its process, level in words and time in ISO", () => {
  const [line] = logged("info", (log) => log.warn({ dag: "etl" }, "late"));
  expect(line).toMatchObject({ process: "scheduler", level: "warn", dag: "etl", msg: "late" });
  expect(line?.["time"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("a level is not written below itself", () => {
  expect(logged("warn", (log) => log.info("x"))).toEqual([]);
  expect(logged("silent", (log) => log.error("x"))).toEqual([]);
});

test("values under names of secrets are not written, also one level down", () => {
  const lines = logged("info", (log) =>
    log.info({ password: "hush", db: { url: "postgres://a:hush@b", token: "hush" } }, "x"),
  );
  expect(JSON.stringify(lines)).not.toContain("hush");
});

test("an address is shown without its password", () => {
  expect(withoutPassword("postgres://ada:hush@db:5432/x?a=1")).toBe("postgres://ada:***@db:5432/x?a=1");
  expect(withoutPassword("redis://:hush@r:6379")).toBe("redis://:***@r:6379");
  expect(withoutPassword("postgres://db/x")).toBe("postgres://db/x");
  expect(withoutPassword("hush")).toBe("(unreadable address)");
});
