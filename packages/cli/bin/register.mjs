// Lets Node run this product from its TypeScript sources in a checkout, and does nothing in an
// installed package, where only dist/ exists. Used by every process Millrace starts (`node --import`).
import { existsSync } from "node:fs";
import { register } from "node:module";

if (existsSync(new URL("../src/main.ts", import.meta.url))) {
  register(new URL("./source-condition.mjs", import.meta.url));
  (await import("tsx/esm/api")).register();
}
