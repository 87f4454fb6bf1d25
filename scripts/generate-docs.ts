// `npm run docs`: writes the pages of docs/reference that are tables of the code: states, configuration, errors. With
// --check it writes nothing and fails when a page is not what the code says.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { configPage } from "./generate-docs/config-page.ts";
import { errorsPage } from "./generate-docs/errors-page.ts";
import { statesPage } from "./generate-docs/states-page.ts";

const FOLDER = join(import.meta.dirname, "..", "docs", "reference");
const PAGES = { "states.md": statesPage, "config.md": configPage, "errors.md": errorsPage };

const isCheck = process.argv.includes("--check");
const stale: string[] = [];
for (const [name, page] of Object.entries(PAGES)) {
  const path = join(FOLDER, name);
  const wanted = page();
  const found = await readFile(path, "utf8").catch(() => "");
  if (found === wanted) continue;
  stale.push(name);
  if (!isCheck) await writeFile(path, wanted);
}

if (!isCheck) console.log(stale.length === 0 ? "Every page was up to date." : `Written: ${stale.join(", ")}`);
else if (stale.length > 0) {
  console.error(`Not what the code says: ${stale.join(", ")} in docs/reference. Run \`npm run docs\` and commit them.`);
  process.exitCode = 1;
}
