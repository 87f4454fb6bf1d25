// The process that runs a DAG file's top level: imports the bundle named on its command line and sends what it declares; or,
// if a request follows on the command line, what the timetable of one of its DAGs answers.
// It knows nothing of Millrace's configuration, and is killed as soon as it has reported. Types are all that it may
// import from this workspace: a checkout strips them and runs the rest as it stands.
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { Worker } from "node:worker_threads";
import type { Artifact, PlanRequest } from "@millrace/sdk/runtime";
import type { ChildReport } from "./child-report.ts";

// A loop without an end must not outlive a parent that was killed; only another thread can notice.
const WATCHDOG = `const parent = process.ppid;
setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, "SIGKILL"); }, 500);`;
new Worker(WATCHDOG, { eval: true }).unref();

Error.stackTraceLimit = 50;
const send = process.send?.bind(process);
const exit = process.exit.bind(process);
delete process.send;
let reported = false;

function report(message: ChildReport, then?: () => void): void {
  if (reported) return;
  reported = true;
  send?.(message, undefined, undefined, then);
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return `Thrown, and not an Error: ${inspect(error)}`;
  const own = error.stack ?? String(error);
  return error.cause === undefined ? own : `${own}\nCaused by: ${stackOf(error.cause)}`;
}

const reportThrown = (error: unknown): void => report({ kind: "thrown", stack: stackOf(error) });
process.on("uncaughtException", reportThrown);
process.on("unhandledRejection", reportThrown);

process.exit = (code) => {
  const { stack = "" } = new Error("process.exit was called");
  report({ kind: "exit", code: String(code ?? process.exitCode ?? 0), stack }, () => exit(code));
  // Nothing after a call of exit may run.
  throw new Error("process.exit was called");
};

try {
  const bundle = (await import(pathToFileURL(process.argv[2] ?? "").href)) as { readonly artifact: Artifact };
  // A turn of the loop, for a rejection that nobody handles to show up.
  await new Promise((resolve) => setImmediate(resolve));
  const [, , , request] = process.argv;
  if (request === undefined) report({ kind: "dags", dags: bundle.artifact.dags() });
  else {
    const answer = bundle.artifact.planRuns?.(JSON.parse(request) as PlanRequest); // written by plan-in-child
    report({
      kind: "plan",
      answer: answer ?? {
        runs: [],
        manual: [],
        ended: false,
        error: "its file was bundled before there were timetables",
      },
    });
  }
} catch (error) {
  reportThrown(error);
}
