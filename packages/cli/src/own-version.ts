import { readFileSync } from "node:fs";

/** From our own package.json, which is as far from src as it is from dist. */
export function ownVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
