import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test as example } from "vitest";
import { runCaptured } from "../../fixtures/capture-io.ts";

const FILE = `import { Dag } from "@millrace/sdk";
const dag = new Dag("hourly", { schedule: "@hourly" });
const a = dag.task("extract", () => { throw new Error("handlers do not run"); }, { retries: 1, retryDelay: 60 })();
dag.task("load", () => 1)().after(a);
`;

async function play(...args: readonly string[]) {
  const cwd = await mkdtemp(join(tmpdir(), "millrace-dags-simulate-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  await writeFile(join(cwd, "hourly.ts"), FILE);
  return await runCaptured(["dags", "simulate", "hourly.ts", ...args], {}, cwd);
}

const DAY = ["--from", "2026-01-01", "--until", "2026-01-01T04:00:00Z"];

example("a few runs are drawn and summed up", async () => {
  const { code, out } = await play(...DAY, "--duration", "*=10m", "--duration", "load=1h");
  expect(out).toContain("scheduled__2026-01-01T01:00:00+00:00");
  expect(out).toMatch(/load +█+/);
  expect(out).toMatch(/runs +4 success/);
  expect(out).toContain("at most 70 min");
  expect(code).toBe(0);
});

example("many runs are summed up only, and outcomes are drawn from the seed", async () => {
  const year = ["--from", "2026-01-01", "--until", "2026-02-01", "--outcome", "extract=failed:0.5"];
  const { out } = await play(...year);
  expect(out).not.toContain("█");
  expect(out).toMatch(/\d+ success, \d+ failed|\d+ failed, \d+ success/);
  const [first] = (await play(...year, "-o", "json")).out.match(/"runs": \{[^}]*\}/) ?? [];
  const [again] = (await play(...year, "-o", "json")).out.match(/"runs": \{[^}]*\}/) ?? [];
  expect(first).toBe(again);
});

example("what cannot be played is said", async () => {
  const unknown = await play(...DAY, "--outcome", "extrct=failed");
  expect(unknown).toMatchObject({
    code: 2,
    notes: expect.stringContaining("there is no task extrct; there are extract, load") as unknown,
  });
  const backwards = await play("--from", "2026-01-02", "--until", "2026-01-01");
  expect(backwards).toMatchObject({ code: 2, notes: expect.stringContaining("is not after from") as unknown });
  const odd = await play(...DAY, "--duration", "load=soon");
  expect(odd).toMatchObject({ code: 2, notes: expect.stringContaining("load=30s") as unknown });
});
