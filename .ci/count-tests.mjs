// Reads vitest's JSON report and prints a line per layer: name, passed, failed. A test file on disk that the report
// does not know counts as a failure, and so does one that could not be loaded.
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const layers = new Map(["packages", "tests", "examples"].map((name) => [name, { passed: 0, failed: 0 }]));

const seen = new Set();
for (const { name, status, assertionResults } of readReport(process.argv[2])) {
  const file = relative(ROOT, name);
  seen.add(file);
  const layer = layers.get(file.split("/")[0]);
  const failures = assertionResults.filter((test) => test.status === "failed").length;
  layer.passed += assertionResults.filter((test) => test.status === "passed").length;
  layer.failed += failures === 0 && status === "failed" ? 1 : failures;
}

for (const [name, layer] of layers) {
  const files = readdirSync(join(ROOT, name), { recursive: true })
    .map((path) => join(name, path))
    .filter((path) => /\.test\.tsx?$/.test(path) && !/(^|\/)(node_modules|dist)\//.test(path));
  for (const file of files.filter((path) => !seen.has(path))) {
    console.error(`${file} was not run`);
    layer.failed += 1;
  }
  console.log(name, layer.passed, layer.failed);
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).testResults;
  } catch (error) {
    console.error(`No test report: ${error.message}`);
    return [];
  }
}
