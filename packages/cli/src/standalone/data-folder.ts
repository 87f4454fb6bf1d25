// What a standalone keeps beside its database: passwords and the port of its Postgres, each in a file of its own.
import { randomBytes } from "node:crypto";
import { access, constants, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { AppError, messageOf } from "@millrace/shared/errors";
import { freePort } from "./embedded-postgres.ts";

/** @throws AppError STANDALONE_FOLDER_UNUSABLE */
export async function makeDataFolder(dir: string): Promise<void> {
  try {
    await mkdir(join(dir, "logs"), { recursive: true, mode: 0o700 });
    await access(dir, constants.W_OK);
  } catch (error) {
    throw new AppError("STANDALONE_FOLDER_UNUSABLE", { dir, cause: messageOf(error) }, { cause: error });
  }
}

/** A secret that is made once and then kept, readable by its owner only. */
export async function keptSecret(dir: string, name: string, bytes: number): Promise<string> {
  return await kept(join(dir, name), () => Promise.resolve(randomBytes(bytes).toString("base64url")));
}

/** The port of the last time, unless somebody else has it now: then a free one, kept again. */
export async function keptPostgresPort(dir: string): Promise<number> {
  const path = join(dir, "postgres-port");
  const port = Number(await kept(path, async () => String(await freePort())));
  if (!(await isListening("127.0.0.1", port))) return port;
  const other = await freePort();
  await replace(path, String(other));
  return other;
}

/** Whether somebody answers there already. */
export function isListening(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const answer = (found: boolean) => () => {
      socket.destroy();
      resolve(found);
    };
    socket.once("connect", answer(true));
    socket.once("error", answer(false));
  });
}

async function kept(path: string, make: () => Promise<string>): Promise<string> {
  const found = await readFile(path, "utf8").catch(() => "");
  if (found.trim() !== "") return found.trim();
  const made = await make();
  await replace(path, made);
  return made;
}

async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, `${text}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
