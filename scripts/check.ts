// `npm run check`: everything that can be said about the sources without running them. One line a step; the
// output of a step only when it fails.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";

interface Step {
  readonly name: string;
  readonly command: readonly string[];
}

const ROOT = join(import.meta.dirname, "..");

// The longest first, so that two lanes end at about the same time.
const STEPS: readonly Step[] = [
  { name: "types", command: ["tsc", "-b", "--pretty", "false"] },
  { name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings", "--report-unused-disable-directives"] },
  { name: "dead code", command: ["knip", "--no-progress", "--no-config-hints"] },
  { name: "format", command: ["prettier", "--check", "--log-level", "warn", "--cache", "."] },
  { name: "layering", command: ["node", "scripts/check/layering.mjs"] },
];
const LANES = Math.min(2, availableParallelism());

interface Outcome {
  readonly ok: boolean;
  readonly output: string;
}

function run(step: Step): Promise<Outcome> {
  const [command = "", ...args] = step.command;
  const child = spawn(command, args, {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PATH: `${join(ROOT, "node_modules/.bin")}:${process.env["PATH"] ?? ""}` },
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ ok: false, output: String(error) }));
    child.once("close", (code) => resolve({ ok: code === 0, output: Buffer.concat(chunks).toString() }));
  });
}

const waiting = [...STEPS];
let failed = 0;

async function lane(): Promise<void> {
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
    const begin = performance.now();
    const { ok, output } = await run(step);
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    console.log(`${ok ? "ok    " : "FAILED"} ${step.name.padEnd(10)} ${seconds} s`);
    if (ok) continue;
    failed++;
    console.log(output.trimEnd().replace(/^/gm, "  "));
  }
}

await Promise.all(Array.from({ length: LANES }, lane));
console.log(`check: ${STEPS.length - failed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
