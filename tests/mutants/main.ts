// `npm run test:mutants [-- --only TEXT]`: plants each bug of mutations.ts in a copy of the sources and runs the tests that
// must fail with it. A bug that they pass by fails the command, and so does one whose text is no longer there. Ends with the
// line `mutants: P caught, F survived`.
import { spawn } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { linkPackages } from "@millrace/testkit/rig";
import { startServices } from "@millrace/testkit/services";
import { MUTATIONS, type Mutation } from "./mutations.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const AT_ONCE = 2;
/** Several tests of a file may each wait for what the bug keeps from coming. */
const LONGEST_MS = 480_000;

const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });

/** The sources alone, with packages of the workspace that lead to the copy and all others that lead to the installed ones. */
async function copyTree(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), "millrace-mutants-"));
  const skipped = new Set(["node_modules", "dist", ".git"]);
  for (const entry of ["packages", "tests", "examples", "package.json", "tsconfig.base.json", "vitest.config.ts"]) {
    await cp(join(ROOT, entry), join(copy, entry), {
      recursive: true,
      filter: (path) => !skipped.has(path.split("/").at(-1) ?? "") && !path.endsWith(".tsbuildinfo"),
    });
  }
  await linkPackages(copy, ROOT);
  return copy;
}

interface Verdict {
  readonly caught: boolean;
  readonly seconds: number;
  readonly how: string;
}

async function tryOut(copy: string, mutation: Mutation, env: NodeJS.ProcessEnv): Promise<Verdict> {
  const path = join(copy, mutation.file);
  const text = await readFile(path, "utf8");
  const parts = text.split(mutation.find);
  if (parts.length !== 2) return { caught: false, seconds: 0, how: `its text is there ${parts.length - 1} times` };
  await writeFile(path, parts.join(mutation.replace));
  const begin = performance.now();
  try {
    const { code, output } = await vitest(copy, mutation, env);
    const failures = Number(/Tests\s+(\d+) failed/.exec(output)?.[1] ?? 0);
    const how = failures > 0 ? `${failures} tests fail` : code === 0 ? "every test passes" : output.slice(-2_000);
    // A test that does not even start says nothing of the bug.
    return { caught: failures > 0, seconds: (performance.now() - begin) / 1000, how };
  } finally {
    await writeFile(path, text);
  }
}

function vitest(copy: string, { by, only }: Mutation, env: NodeJS.ProcessEnv) {
  const args = ["run", ...by, ...(only === undefined ? [] : ["-t", only]), "--reporter=default", "--bail=1"];
  const child = spawn(process.execPath, [join(ROOT, "node_modules/vitest/vitest.mjs"), ...args], {
    cwd: copy,
    env: { ...process.env, ...env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LONGEST_MS,
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise<{ code: number | null; output: string }>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output: Buffer.concat(chunks).toString() }));
  });
}

const services = await startServices({ durable: false });
const env = { DATABASE_URL: services.postgresUrl, REDIS_URL: services.redisUrl };
const copies = await Promise.all(Array.from({ length: AT_ONCE }, copyTree));
const chosen = MUTATIONS.filter((mutation) => mutation.name.includes(values.only));
const waiting = chosen.filter((mutation) => mutation.equivalent === undefined);
let caught = 0;
let survived = 0;
try {
  await Promise.all(
    copies.map(async (copy) => {
      for (let mutation = waiting.shift(); mutation !== undefined; mutation = waiting.shift()) {
        const verdict = await tryOut(copy, mutation, env);
        if (verdict.caught) caught++;
        else survived++;
        const word = verdict.caught ? "caught  " : "SURVIVED";
        console.log(`${word} ${mutation.name} (${verdict.seconds.toFixed(1)} s): ${verdict.how}`);
      }
    }),
  );
} finally {
  await services.stop();
  for (const copy of copies) await rm(copy, { recursive: true, force: true });
}
for (const { name, equivalent } of chosen) {
  if (equivalent !== undefined) console.log(`equal    ${name}: ${equivalent}`);
}
console.log(`mutants: ${caught} caught, ${survived} survived`);
process.exit(survived === 0 && caught > 0 ? 0 : 1);
