// Runs the top level of a DAG file where it can do no harm, and gives back what it declares.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DagProblem, DagReading, PlanAnswer, PlanRequest } from "@millrace/sdk/runtime";
import { plainProgram } from "@millrace/shared/lifecycle";
import { mapStack } from "@millrace/shared/observability";
import type { DagBundle } from "../bundle/dag-bundle.ts";
import { runChild, type ChildEnd, type ParseLimits } from "./child-process.ts";

export type ParseOutcome =
  | {
      readonly kind: "read";
      /** Stacks of problems are of the user's files. Empty for a file that constructs no DAG. */
      readonly dags: readonly DagReading[];
      readonly durationMs: number;
      readonly output: string;
    }
  | { readonly kind: "failed"; readonly message: string; readonly durationMs: number; readonly output: string }
  /** `limits.signal` was aborted. */
  | { readonly kind: "stopped" };

export interface ParseOptions extends ParseLimits {
  /** Folder of the DAG file relative to the DAG folder, for the names in stacks. */
  readonly folder?: string;
}

export type ParsedBundle = Pick<DagBundle, "code" | "sourceMap" | "hash">;

export type PlanOutcome =
  /** The answer's error has a stack of the user's files. */
  | { readonly kind: "answered"; readonly answer: PlanAnswer }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "stopped" };

let childProgram: Promise<string> | undefined;

export async function parseInChild(bundle: ParsedBundle, options: ParseOptions): Promise<ParseOutcome> {
  const started = performance.now();
  const { end, map } = await inChild(bundle, options, []);
  if (end.killedFor === "stop") return { kind: "stopped" };
  const durationMs = performance.now() - started;
  if (end.report?.kind === "dags") {
    const dags = end.report.dags.map((dag) =>
      "problems" in dag ? { ...dag, problems: mapped(dag.problems, map) } : dag,
    );
    return { kind: "read", dags, durationMs, output: end.output };
  }
  return { kind: "failed", message: failureOf(end, options, map, READING), durationMs, output: end.output };
}

/** Asks the timetable of a DAG of the bundle for its next runs. */
export async function planInChild(
  bundle: ParsedBundle,
  request: PlanRequest,
  options: ParseOptions,
): Promise<PlanOutcome> {
  const { end, map } = await inChild(bundle, options, [JSON.stringify(request)]);
  if (end.killedFor === "stop") return { kind: "stopped" };
  if (end.report?.kind !== "plan") return { kind: "failed", message: failureOf(end, options, map, ASKING) };
  const { answer } = end.report;
  return { kind: "answered", answer: answer.error === undefined ? answer : { ...answer, error: map(answer.error) } };
}

async function inChild(bundle: ParsedBundle, options: ParseOptions, args: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), "millrace-parse-"));
  try {
    const [program, code] = [join(folder, "parse-child.mjs"), join(folder, `${bundle.hash}.mjs`)];
    await Promise.all([
      writeFile(program, await (childProgram ??= plainProgram(import.meta.url, "./parse-child"))),
      writeFile(code, bundle.code),
    ]);
    const end = await runChild([program, code, ...args], folder, options);
    return { end, map: (stack: string) => mapStack(stack, bundle.sourceMap, { folder: options.folder ?? "." }) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Doing {
  readonly subject: string;
  readonly timeAdvice: string;
  readonly memoryAdvice: string;
  readonly before: string;
}

const READING: Doing = {
  subject: "Reading the file",
  timeAdvice: "Is there a loop without an end, or a wait, at its top level? Work belongs into tasks.",
  memoryAdvice: "Data belongs into tasks, not to the top level.",
  before: "it could tell its DAGs",
};
const ASKING: Doing = {
  subject: "Asking the timetable for its next runs",
  timeAdvice: "Is there a loop without an end in its next() or infer()?",
  memoryAdvice: "It has to answer from its arguments alone.",
  before: "its timetable had answered",
};

const mapped = (problems: readonly DagProblem[], map: (stack: string) => string): DagProblem[] =>
  problems.map((problem) => (problem.stack === undefined ? problem : { ...problem, stack: map(problem.stack) }));

const UNSETTLED_TOP_LEVEL_AWAIT = 13;

function failureOf(end: ChildEnd, limits: ParseLimits, map: (stack: string) => string, doing: Doing): string {
  const { report, killedFor, code, signal, output } = end;
  if (report?.kind === "thrown") return map(report.stack);
  if (report?.kind === "exit") {
    const frames = map(report.stack).split("\n").slice(1).join("\n");
    return `The file calls process.exit(${report.code}) while it is read. A DAG file may only declare: throw an error instead.\n${frames}`.trimEnd();
  }
  if (killedFor === "time") {
    return `${doing.subject} took longer than ${limits.timeoutMs / 1000} s and was stopped. ${doing.timeAdvice} (dag_processor.dag_file_processor_timeout)`;
  }
  if (killedFor === "memory" || /heap out of memory|allocation failed/i.test(output)) {
    return `${doing.subject} took more than ${limits.memoryMb} MiB of memory and was stopped. ${doing.memoryAdvice} (dag_processor.dag_file_processor_memory_mb)`;
  }
  if (code === UNSETTLED_TOP_LEVEL_AWAIT) return "The file awaits something at its top level that never comes.";
  const how = signal === null ? `with exit code ${code ?? 0}` : `by ${signal}`;
  const last = output.trim().slice(-2_000);
  return `The process that reads the file was ended ${how} before ${doing.before}.${last === "" ? "" : `\nIts last output:\n${last}`}`;
}
