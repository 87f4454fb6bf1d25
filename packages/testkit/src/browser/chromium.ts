// A real Chromium without a window, spoken to over two pipes: it ends with them, and so with the process that started it.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { debianProgram, type UnpackedProgram } from "../services/debian-package.ts";
import { DevtoolsPipe } from "./devtools-pipe.ts";
import { BrowserPage } from "./browser-page.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
const PLACES = ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"];
const FLAGS = [
  "--headless=new",
  "--remote-debugging-pipe",
  // A root user, and a container, have no sandbox; what it opens is ours.
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--no-first-run",
  "--hide-scrollbars",
  "--force-prefers-reduced-motion",
];

export interface Browser {
  /** A page of its own, with cookies of its own. */
  open(url: string): Promise<BrowserPage>;
  close(): Promise<void>;
}

/**
 * `CHROMIUM_PATH`, else a Chromium or Chrome on this machine, else (Debian, Ubuntu) the distribution's package, unpacked into
 * a cache folder. Undefined when none can be had; what was tried is said.
 */
export async function findChromium(say: (line: string) => void): Promise<UnpackedProgram | undefined> {
  const given = process.env["CHROMIUM_PATH"];
  if (given !== undefined && given !== "") return { command: given, libraryPath: "" };
  const found = [...NAMES, ...PLACES].find((name) =>
    name.startsWith("/") ? existsSync(name) : spawnSync(name, ["--version"]).status === 0,
  );
  if (found !== undefined) return { command: found, libraryPath: "" };
  const wanted = {
    name: "chromium",
    packages: ["chromium", "chromium-common", "fonts-dejavu-core"],
    path: "usr/lib/chromium/chromium",
  };
  return await debianProgram(wanted, say).catch((error: unknown) => {
    say(`no Chromium: the distribution's package could not be had: ${String(error)}`);
    return undefined;
  });
}

export async function startChromium({ command, libraryPath }: UnpackedProgram): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), "millrace-browser-"));
  const child = spawn(command, [...FLAGS, `--user-data-dir=${profile}`, "about:blank"], {
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    env: { ...process.env, ...(libraryPath === "" ? {} : { LD_LIBRARY_PATH: libraryPath }) },
    detached: true,
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const [, , , to, from] = child.stdio as unknown as [null, null, null, Writable, Readable]; // as `stdio` above says
  const pipe = new DevtoolsPipe(to, from);
  child.once("error", (error) => pipe.fail(error));
  return {
    open: async (url) => await BrowserPage.open(pipe, url),
    close: async () => {
      await pipe.send("Browser.close").catch(() => undefined);
      const timer = setTimeout(() => killGroup(child), 5_000);
      await ended;
      clearTimeout(timer);
      killGroup(child);
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** It, and the processes that it started. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It went by itself.
  }
}
