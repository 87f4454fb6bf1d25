import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startProcess } from "../vitest-hooks.ts";
import { waitUntil } from "../wait-until.ts";
import { spawnMillrace } from "./millrace-process.ts";

const entry = fileURLToPath(new URL("./fixtures/parent.mjs", import.meta.url));
const OWNER = fileURLToPath(new URL("./fixtures/owner.ts", import.meta.url));

// A dead process whose parent is dead, too, stays in the list as a zombie until init takes it out.
const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return process.platform === "linux" && / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return true;
  }
};

test("a line is found whether it was written before or after one waits for it", async () => {
  const started = startProcess({ entry, args: [] });
  expect(await started.waitForLine(/^ready/)).toBe("ready");
  expect(await started.waitForLine(/^ready/)).toBe("ready");
});

test("a process that ends without the awaited line says what it wrote instead", async () => {
  const started = startProcess({ entry, args: ["fail"] });
  await expect(started.waitForLine(/^ready/)).rejects.toThrow(/ended without it[^]*cannot go on/);
  expect(await started.exited).toEqual({ code: 3, signal: null });
});

test("kill signals that one process, and `exited` tells how it ended", async () => {
  const started = startProcess({ entry, args: [] });
  await started.waitForLine(/^ready/);
  started.kill("SIGTERM");
  expect(await started.exited).toEqual({ code: 0, signal: null });
  expect(started.lines).toContain("got SIGTERM");
});

test("a process is gone once its test is over", async () => {
  const started = spawnMillrace({ entry, args: [] });
  await started.waitForLine(/^ready/);
  await started.dispose();
  expect(isGone(started.pid)).toBe(true);
});

test("a process ends with a test run that is killed", async () => {
  const owner = startProcess({ entry: OWNER, args: [] });
  const pid = Number((await owner.waitForLine(/^started \d+/)).split(" ")[1]);
  owner.kill("SIGKILL");
  await waitUntil(() => isGone(pid), { what: "the process of the killed run is gone" });
});

test.runIf(process.platform === "linux")(
  "an orphan fails the test that left it, even from a session of its own",
  async () => {
    const started = spawnMillrace({ entry, args: ["orphan"], orphanGraceMs: 100 });
    const orphan = Number((await started.waitForLine(/^orphan \d+/)).split(" ")[1]);
    await expect(started.dispose()).rejects.toThrow(new RegExp(`left: ${orphan}`));
    await waitUntil(() => isGone(orphan), { what: "the orphan is gone" });
  },
);
