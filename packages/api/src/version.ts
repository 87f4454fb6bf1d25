import { readFileSync } from "node:fs";

/** Of this package, which all of Millrace shares. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;
