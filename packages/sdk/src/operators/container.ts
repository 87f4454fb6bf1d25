// A container by the engine's command line. It is named by its attempt, and removed with it: when it ended, when the
// attempt has to stop, and by a watcher when the process that runs the attempt is killed.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { NoArguments } from "../authoring/handlers.ts";
import { SkipTask } from "../errors/task-signals.ts";
import { anything, checkOptions, oneOf, show, type Check } from "../reading/checks.ts";
import type { RunScope } from "../runtime/run-scope.ts";
import type { RenderedFields } from "../templates/render-fields.ts";
import { presentEnv } from "./bash.ts";
import { runProcess } from "./bash-process.ts";
import { contextEnv } from "./context-env.ts";
import { Operator } from "./operator.ts";
import type { PerRun } from "./per-run.ts";
import { orTemplate, textField, textListField, textsField } from "./read-fields.ts";

/** A folder or a named volume, and where the container sees it. */
export interface ContainerVolume {
  readonly source: string;
  readonly target: string;
  /** @default false */
  readonly readOnly?: boolean;
}

/** The options of {@link container}. Texts are templates. */
export interface ContainerOptions<A extends object = NoArguments> {
  readonly image: PerRun<string, A>;
  /** Arguments of the image's entrypoint; no shell is between. @default those of the image */
  readonly command?: PerRun<readonly string[], A>;
  readonly entrypoint?: string;
  /** Environment variables, in addition to Airflow's `AIRFLOW_CTX_…`. */
  readonly env?: PerRun<Readonly<Record<string, string | number | boolean>>, A>;
  readonly volumes?: PerRun<readonly ContainerVolume[], A>;
  /** @default that of the image */
  readonly workdir?: string;
  /** @default that of the engine */
  readonly network?: string;
  /** @default that of the image */
  readonly user?: string;
  /** As the engine writes it: `512m`. @default no limit */
  readonly memory?: string;
  /** @default no limit */
  readonly cpus?: number;
  /** When the image is fetched. @default "missing" */
  readonly pull?: "missing" | "always" | "never";
  /** Further arguments of `run`, before the image. */
  readonly args?: readonly string[];
  /** The program: `docker`, `podman`, or a path. @default "docker" */
  readonly engine?: string;
  /** Exit codes that make the task skipped. @default none */
  readonly skipOnExitCode?: number | readonly number[];
}

/** A container did not end with exit code 0, or could not be started. */
export class ContainerFailed extends Error {
  override readonly name: string = "ContainerFailed";
  /** null when a signal ended the engine's program. */
  readonly exitCode: number | null;

  constructor(message: string, exitCode: number | null) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Runs a container to its end with docker or podman. Its output goes to the task's log, and its last line of standard
 * output is the value of the task. When the attempt has to stop the container gets SIGTERM, five seconds later it is
 * killed, and it is removed in any case. Airflow's `DockerOperator`.
 *
 * @throws ContainerFailed for any exit code but 0
 * @example `dag.task("train", container({ image: "trainer:3", command: ["--day", "{{ ds }}"], volumes: [{ source: "/data", target: "/data" }] }))`
 */
export function container<A extends object = NoArguments>(options: ContainerOptions<A>): Operator<A, string> {
  const { image, command, env, volumes } = options;
  return new Operator<A, string>({
    name: "container",
    problems: wrongOptions(options),
    fields: { image: { value: image }, command: { value: command }, env: { value: env }, volumes: { value: volumes } },
    run: async (_inputs, scope, fields) => runContainer(options, fields, scope),
  });
}

async function runContainer(
  options: ContainerOptions<never>,
  fields: RenderedFields,
  scope: RunScope,
): Promise<string> {
  const { host, context } = scope;
  const engine = options.engine ?? "docker";
  const name = `millrace-${createHash("sha256").update(context.idempotencyKey).digest("hex").slice(0, 24)}`;
  const env = { ...contextEnv(scope), ...textsField(fields, "env") };
  const { file, drop } = await writeEngineVariables(env);
  const watcher = watchOver(engine, name, file);
  let lastError = "";
  try {
    // A worker that was lost in this very try may have left it.
    await remove(engine, name);
    host.signal.throwIfAborted();
    const { args, processEnv } = runArguments(name, options, fields, { env, file }, context);
    const exit = await runProcess({
      file: engine,
      args,
      env: processEnv,
      cwd: "/",
      encoding: "utf-8",
      signal: host.signal,
      onLine: (stream, line) => {
        host.log("info", line, { stream });
        if (stream === "stderr" && line.trim() !== "" && !ENGINE_ADVICE.test(line)) lastError = line.trim();
      },
      onGroup: (pid, state) => host.processGroup?.(pid, state),
    });
    host.signal.throwIfAborted();
    if (exit.code === 0) return exit.lastLine;
    if (exit.code !== null && [options.skipOnExitCode ?? []].flat().includes(exit.code)) {
      throw new SkipTask(`the container ended with exit code ${exit.code}, which means skip`);
    }
    throw new ContainerFailed(describeExit(engine, exit.code, exit.killedBy, lastError), exit.code);
  } finally {
    // `--rm` does it only when the engine's program lived to see the end.
    await remove(engine, name);
    watcher.dismiss();
    await drop();
  }
}

const ENGINE_ADVICE = /^(See '|Run '|Unable to find image )/;

/** @param said the engine's last words, which say what is missing */
function describeExit(engine: string, code: number | null, killedBy: string | null, said: string): string {
  if (code === null) return `${engine} was ended by ${killedBy ?? "a signal"}`;
  const why = said === "" ? "" : `: ${said}`;
  if (code === 125) return `${engine} could not start the container (exit code 125)${why}`;
  if (code === 126 || code === 127) return `the command cannot be run in the image (exit code ${code})${why}`;
  return `the container ended with exit code ${code}${code === 137 ? ": it was killed, as happens when its memory is full" : ""}`;
}

/** The engine's own program reads these: they reach the container by a file and not through its environment. */
const ENGINE_VARIABLES =
  /^(PATH|HOME|USER|TMPDIR|LD_.*|XDG_.*|DOCKER_.*|CONTAINERS?_.*|PODMAN_.*|BUILDAH_.*|.*_PROXY|.*_proxy|SSH_.*)$/;

const isForEngine = (key: string): boolean => ENGINE_VARIABLES.test(key);

/** A file that only this user can read, for variables that would mean something to the engine's program itself. */
async function writeEngineVariables(
  env: Readonly<Record<string, string>>,
): Promise<{ readonly file: string | undefined; readonly drop: () => Promise<void> }> {
  const own = Object.entries(env).filter(([key]) => isForEngine(key));
  if (own.length === 0) return { file: undefined, drop: () => Promise.resolve() };
  const broken = own.find(([, value]) => /[\r\n]/.test(value));
  if (broken !== undefined) {
    throw new TypeError(
      `env: ${broken[0]} has a line break, and the engine's own program reads that variable too: give it another name`,
    );
  }
  const folder = await mkdtemp(join(tmpdir(), "millrace-env-"));
  const file = join(folder, "env");
  await writeFile(file, own.map(([key, value]) => `${key}=${value}\n`).join(""), { mode: 0o600 });
  return { file, drop: () => rm(folder, { recursive: true, force: true }) };
}

function runArguments(
  name: string,
  options: ContainerOptions<never>,
  fields: RenderedFields,
  { env, file }: { readonly env: Readonly<Record<string, string>>; readonly file: string | undefined },
  { dagId, taskId }: { readonly dagId: string; readonly taskId: string },
): { readonly args: readonly string[]; readonly processEnv: Readonly<Record<string, string>> } {
  const { entrypoint, workdir, network, user, memory, cpus, pull = "missing", args = [] } = options;
  const option = (flag: string, value: string | number | undefined) =>
    value === undefined ? [] : [flag, String(value)];
  const byName = Object.entries(env).filter(([key]) => !isForEngine(key));
  return {
    args: [
      ...["run", "--rm", "--name", name, "--pull", pull],
      ...["--label", `millrace.dag=${dagId}`, "--label", `millrace.task=${taskId}`],
      // By name alone or by a file, so that no value is in the list of processes.
      ...byName.flatMap(([key]) => ["--env", key]),
      ...option("--env-file", file),
      ...volumesOf(fields["volumes"]).flatMap((volume) => ["--volume", volume]),
      ...option("--workdir", workdir),
      ...option("--network", network),
      ...option("--user", user),
      ...option("--memory", memory),
      ...option("--cpus", cpus),
      ...option("--entrypoint", entrypoint),
      ...args,
      wordOf("image", textField(fields, "image")),
      ...textListField(fields, "command"),
    ],
    processEnv: {
      ...presentEnv(),
      ...Object.fromEntries(byName),
    },
  };
}

function volumesOf(given: unknown): readonly string[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw new TypeError(`volumes must be an array, got ${show(given)}`);
  return given.map((volume: Partial<ContainerVolume>) => {
    const [source, target] = [volume.source, volume.target].map((part) => wordOf("volumes", String(part ?? "")));
    if ([source, target].some((part) => part?.includes(":") === true)) {
      throw new TypeError(
        `volumes: source and target have no colon, got ${show(volume.source)} and ${show(volume.target)}`,
      );
    }
    return `${source}:${target}${volume.readOnly === true ? ":ro" : ""}`;
  });
}

/** What starts with a dash would be an option. */
function wordOf(field: string, text: string): string {
  if (text === "" || text.startsWith("-")) throw new TypeError(`${field}: ${show(text)} is no name`);
  return text;
}

/** Resolves whatever comes of it: there may be no such container, which is what was wanted. */
function remove(engine: string, name: string): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(engine, ["rm", "--force", name], { stdio: "ignore", timeout: 30_000, killSignal: "SIGKILL" });
    child.on("error", () => resolve());
    child.on("close", () => resolve());
  });
}

/**
 * Removes the container, and the file of its variables, when this process ends without saying so. Nobody's child and in a group of its own, it outlives
 * what kills this process, and learns of it by the end of a pipe. That is none of its first three: Node closes the input of
 * a child that has ended, as the shell does that puts the watcher into the background.
 */
function watchOver(engine: string, name: string, file = ""): { readonly dismiss: () => void } {
  const script = '{ read -r done <&3 || { [ -z "$1" ] || rm -rf "$1"; shift; exec "$@" >/dev/null 2>&1 3<&-; }; } &';
  const folder = file === "" ? "" : dirname(file);
  const child = spawn("sh", ["-c", script, "millrace-watcher", folder, engine, "rm", "--force", name], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
    detached: true,
  });
  child.on("error", () => undefined);
  child.unref();
  const pipe = child.stdio[3] as Socket; // as `stdio` asks for
  pipe.on("error", () => undefined);
  pipe.unref();
  return { dismiss: () => pipe.end("done\n") };
}

function wrongOptions(options: ContainerOptions<never>): readonly string[] {
  const isText: Check = (value) =>
    typeof value === "string" && value !== "" ? undefined : `must be a text, got ${show(value)}`;
  const isList: Check = (value) => (Array.isArray(value) ? undefined : `must be an array, got ${show(value)}`);
  const isObject: Check = (value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? undefined
      : `must be an object, got ${show(value)}`;
  return [
    ...(options?.image === undefined ? ["image is needed"] : []),
    ...checkOptions(options, {
      image: orTemplate(isText),
      command: orTemplate(isList),
      entrypoint: isText,
      env: orTemplate(isObject),
      volumes: orTemplate(isList),
      workdir: isText,
      network: isText,
      user: isText,
      memory: isText,
      cpus: (value) =>
        typeof value === "number" && value > 0 ? undefined : `must be a number above 0, got ${show(value)}`,
      pull: oneOf(["missing", "always", "never"]),
      args: isList,
      engine: isText,
      skipOnExitCode: anything,
    }),
  ];
}
