import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { newCommand } from "../io/command.ts";
import type { Io } from "../io/io.ts";

/** The same file from src and from dist. */
export function ownVersion(): string {
  // Our own package.json.
  const text = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
  return text.version;
}

export const version = (io: Io): Command =>
  newCommand(io, "version", { about: "Show the version." }).action(() => io.out(`${ownVersion()}\n`));
