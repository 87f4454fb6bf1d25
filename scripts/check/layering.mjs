// Checks the import directions of .dependency-cruiser.cjs, and that every source file was looked at: a parser that
// is missing or a folder that is forgotten would make all rules hold. Plain JavaScript, because under a TypeScript
// loader dependency-cruiser does not find the parser's visitor.
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import swc from "@swc/core";
import swcVisitor from "@swc/core/Visitor.js";
import { cruise } from "dependency-cruiser";
import config from "../../.dependency-cruiser.cjs";

const ROOT = join(import.meta.dirname, "..", "..");
const FOLDERS = ["packages", "tests", "examples", "bench"];

// Judged without `import type`, which compilation removes; all other rules hold for types, too.
const AT_RUNTIME = ["no-cycles", "ui-types-only"];

// dependency-cruiser never tells the parser that a file has JSX in it.
const { parseFileSync } = swc;
swc.parseFileSync = (file, options) => parseFileSync(file, { ...options, tsx: file.endsWith("x") });

// The visitor stops at `using`, which is newer than it is, and cannot tell `import type` from `import`.
const { Visitor } = swcVisitor;
const { visitStatement, visitModuleItems } = Visitor.prototype;
let withTypes = true;
Visitor.prototype.visitStatement = function (statement) {
  if (statement.type !== "UsingDeclaration") return visitStatement.call(this, statement);
  return { ...statement, decls: this.visitVariableDeclarators(statement.decls) };
};
Visitor.prototype.visitModuleItems = function (items) {
  return visitModuleItems.call(this, withTypes ? items : items.filter(({ typeOnly }) => typeOnly !== true));
};

process.chdir(ROOT);
const { modules, summary } = await cruiseBy((rule) => !AT_RUNTIME.includes(rule.name));
withTypes = false;
const runtime = await cruiseBy((rule) => AT_RUNTIME.includes(rule.name));
const violations = [...summary.violations, ...runtime.summary.violations];

async function cruiseBy(isWanted) {
  const ruleSet = { forbidden: config.forbidden.filter(isWanted) };
  const { output } = await cruise(FOLDERS, { ...config.options, validate: true, ruleSet });
  return output;
}

for (const { rule, from, to, cycle } of violations) {
  console.log(`${rule.name}: ${from} → ${cycle === undefined ? to : cycle.map(({ name }) => name).join(" → ")}`);
  const comment = config.forbidden.find(({ name }) => name === rule.name)?.comment;
  if (comment !== undefined) console.log(`  ${comment}`);
}

const cruised = new Set(modules.map(({ source }) => source));
const onDisk = (await Promise.all(FOLDERS.map(sourceFiles))).flat();
const missed = onDisk.filter((file) => !cruised.has(file));
for (const file of missed) console.log(`not looked at: ${file}`);

const imports = summary.totalDependenciesCruised ?? 0;
const typeImports = imports - (runtime.summary.totalDependenciesCruised ?? 0);
console.log(`${onDisk.length} source files, ${cruised.size} modules, ${imports} imports (${typeImports} of types)`);
// A parser that understands nothing finds the files but none of their imports.
const blind = onDisk.length === 0 || imports < onDisk.length;
if (blind) console.log("Fewer imports than files: the parser (@swc/core) does not work.");
if (blind || missed.length > 0 || violations.length > 0) process.exitCode = 1;

async function sourceFiles(folder) {
  const entries = await readdir(join(ROOT, folder), { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((file) => /\.[cm]?[jt]sx?$/.test(file) && !/(^|\/)(node_modules|dist)\//.test(file));
}
