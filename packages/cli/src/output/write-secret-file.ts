import { open } from "node:fs/promises";
import { resolve } from "node:path";
import type { Io } from "../io/io.ts";

const OWNER_ONLY = 0o600;

/** What holds secrets in plain text: readable by its owner alone, or printed for `-`. */
export async function writeSecretFile(io: Io, file: string, text: string): Promise<void> {
  if (file === "-") return io.out(text);
  const handle = await open(resolve(io.cwd, file), "w", OWNER_ONLY);
  try {
    // One that was there keeps its own mode, so this comes before the first byte; what is no file has none to change.
    if ((await handle.stat()).isFile()) await handle.chmod(OWNER_ONLY);
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}
