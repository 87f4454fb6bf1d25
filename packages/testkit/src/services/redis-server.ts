// Runs a redis-server binary on a free port; it ends with this process.
import { accessSync, closeSync, constants, openSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, spawnOnLeash } from "@millrace/cli/embedded-postgres";
import type { StartedService } from "./started-service.ts";

const START_TIMEOUT_MS = 10_000;

export interface RedisBinary {
  readonly command: string;
  /** Where its shared libraries are, if not where the system looks. */
  readonly libraryPath?: string;
}

export function redisOnPath(path = process.env["PATH"] ?? ""): RedisBinary | undefined {
  for (const folder of path.split(delimiter)) {
    for (const name of ["redis-server", "valkey-server"]) {
      if (isExecutable(join(folder, name))) return { command: join(folder, name) };
    }
  }
  return undefined;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export async function startRedisServer(
  binary: RedisBinary,
  flags: readonly string[],
  dir: string,
): Promise<Pick<StartedService, "url" | "stop">> {
  const data = join(dir, "redis");
  await mkdir(data, { recursive: true });
  const log = join(data, "server.log");
  const port = await freePort();
  const logFd = openSync(log, "a");
  const server = spawnOnLeash({
    command: binary.command,
    args: ["--port", String(port), "--bind", "127.0.0.1", "--dir", data, ...flags],
    stopSignal: "TERM",
    cwd: data,
    env: { PATH: process.env["PATH"], LD_LIBRARY_PATH: binary.libraryPath },
    logFd,
  });
  closeSync(logFd);
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await answersPing(port))) {
    if (server.running() && Date.now() < deadline) {
      await sleep(10);
      continue;
    }
    server.release();
    throw new Error(`${binary.command} did not start:\n${await readFile(log, "utf8")}`);
  }
  const stop = async (): Promise<void> => {
    server.release();
    await server.exited;
  };
  return { url: `redis://127.0.0.1:${port}`, stop };
}

function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    socket.setTimeout(500, () => socket.destroy());
    socket.once("data", (data) => {
      resolve(data.toString().startsWith("+PONG"));
      socket.destroy();
    });
    socket.once("error", () => undefined);
    socket.once("close", () => resolve(false));
  });
}
