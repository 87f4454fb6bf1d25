import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Io } from "../io/io.ts";

/** What holds secrets in plain text: readable by its owner alone, or printed for `-`. */
export async function writeSecretFile(io: Io, file: string, text: string): Promise<void> {
  if (file === "-") return io.out(text);
  await writeFile(resolve(io.cwd, file), text, { mode: 0o600 });
}
