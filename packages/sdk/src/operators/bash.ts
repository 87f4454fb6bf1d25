import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NoArguments } from "../authoring/handlers.ts";
import { SkipTask } from "../errors/task-signals.ts";
import type { RunScope } from "../runtime/run-scope.ts";
import { runBash, type BashExit } from "./bash-process.ts";
import { contextEnv } from "./context-env.ts";
import { Operator } from "./operator.ts";
import type { PerRun } from "./per-run.ts";
import { textField, textsField } from "./read-fields.ts";

/** The options of {@link bash}. */
export interface BashOptions<A extends object = NoArguments> {
  /**
   * Environment variables. The way to hand over values of other tasks, params and everything else that is not yours:
   * read them as `"$NAME"` in the script, and nothing in them is taken for code. Values are templates.
   */
  readonly env?: PerRun<Readonly<Record<string, string | number | boolean>>, A>;
  /** Whether the script also sees the variables of the worker's process. Airflow's default is false. @default true */
  readonly appendEnv?: boolean;
  /** A template. @default a new temporary directory, removed when the script ended */
  readonly cwd?: string;
  /** Exit codes that make the task skipped; `null` for none. @default 99 */
  readonly skipOnExitCode?: number | readonly number[] | null;
  /** How the output is encoded, as a label of the WHATWG encoding standard. @default "utf-8" */
  readonly outputEncoding?: string;
}

/** A script did not end with exit code 0. */
export class BashFailed extends Error {
  override readonly name: string = "BashFailed";
  /** null when a signal ended it. */
  readonly exitCode: number | null;

  constructor(message: string, exitCode: number | null) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Runs a script with `bash -c`. Its output goes to the task's log line by line, and its last line of standard output
 * is the value of the task. Any exit code but 0 fails the task, 99 skips it. When the attempt has to stop, the script
 * and everything that it started get SIGTERM, and SIGKILL five seconds later. A script has ended when its
 * output has: what it left in the background with that output open is waited for, as in Airflow; anything else that it left
 * in its process group is killed. Airflow's `BashOperator`.
 *
 * @param command the script, a template. What `{{ … }}` takes from params, the run's conf, inputs and other tasks must be a
 *   plain word; `| quote` makes one of anything, `| safe` says that it is code. For data use `env`
 * @throws RangeError for an unknown `outputEncoding`
 * @example `dag.task("pack", bash('tar czf "$TARGET" .', { env: { TARGET: "/backup/a.tgz" }, cwd: "/data" }))`
 */
export function bash<A extends object = NoArguments>(
  command: PerRun<string, A>,
  options: BashOptions<A> = {},
): Operator<A, string> {
  const encoding = new TextDecoder(options.outputEncoding).encoding;
  return new Operator<A, string>({
    name: "bash",
    fields: { command: { value: command, code: "shell" }, env: { value: options.env }, cwd: { value: options.cwd } },
    run: async (_inputs, scope, fields) => {
      const script = textField(fields, "command");
      const own = textsField(fields, "env");
      const env = { ...(options.appendEnv === false ? {} : presentEnv()), ...contextEnv(scope), ...own };
      const exit = await inDirectory(options.cwd === undefined ? undefined : textField(fields, "cwd"), (cwd) =>
        runBash({
          command: script,
          env,
          cwd,
          encoding,
          signal: scope.host.signal,
          onLine: (stream, line) => scope.host.log("info", line, { stream }),
          onGroup: (pid, state) => scope.host.processGroup?.(pid, state),
          onLeft: () =>
            scope.host.log(
              "warn",
              "the script has ended, and what it left in the background still holds its output: the task waits for it. Send that output elsewhere (>/dev/null 2>&1) for it to be ended with the script",
            ),
        }),
      );
      return valueOf(exit, options.skipOnExitCode === undefined ? 99 : options.skipOnExitCode, scope);
    },
  });
}

/** What the process of the task has. */
export function presentEnv(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

async function inDirectory<T>(cwd: string | undefined, use: (cwd: string) => Promise<T>): Promise<T> {
  if (cwd !== undefined) {
    // Without this check a missing directory would look like a missing bash.
    const found = await stat(cwd).catch(() => undefined);
    if (found?.isDirectory() !== true) throw new Error(`cwd "${cwd}" is not a directory on this worker`);
    return use(cwd);
  }
  const temporary = await mkdtemp(join(tmpdir(), "millrace-bash-"));
  try {
    return await use(temporary);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

function valueOf(exit: BashExit, skipOn: number | readonly number[] | null, scope: RunScope): string {
  scope.host.signal.throwIfAborted();
  if (exit.code === 0) return exit.lastLine;
  if (exit.code !== null && [skipOn ?? []].flat().includes(exit.code)) {
    throw new SkipTask(`the script ended with exit code ${exit.code}, which means skip`);
  }
  const how = exit.code === null ? `was ended by ${exit.killedBy}` : `ended with exit code ${exit.code}`;
  throw new BashFailed(`the script ${how}`, exit.code);
}
