// Which commands there are for containers on this machine, and whether an engine answers them.
import { execFile, type ExecFileException } from "node:child_process";
import { promisify } from "node:util";

const exec = promisify(execFile);

export interface Engine {
  docker(args: readonly string[], env?: Environment): Promise<string>;
  compose(args: readonly string[], env?: Environment): Promise<string>;
}

export type Environment = Readonly<Record<string, string>>;

/** Whether there is an engine. */
export const answers = async (): Promise<boolean> => await succeeds(["docker", "info"]);

/** Undefined when there is none, with a line that says what is missing. */
export async function findEngine(): Promise<{ readonly engine: Engine } | { readonly missing: string }> {
  if (!(await answers())) return { missing: "no container engine answers `docker info`" };
  for (const compose of [["docker", "compose"], ["docker-compose"]]) {
    if (!(await succeeds([...compose, "version"]))) continue;
    return {
      engine: {
        docker: async (args, env) => await run(["docker", ...args], env),
        compose: async (args, env) => await run([...compose, ...args], env),
      },
    };
  }
  return { missing: "an engine answers, but there is neither `docker compose` nor `docker-compose`" };
}

const succeeds = async (command: readonly string[]): Promise<boolean> =>
  await run(command).then(
    () => true,
    () => false,
  );

/** Gives standard output. @throws with everything that the command wrote */
async function run([file = "", ...args]: readonly string[], env: Environment = {}): Promise<string> {
  try {
    const { stdout } = await exec(file, args, { env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 });
    return stdout.trim();
  } catch (error) {
    const { stdout = "", stderr = "", message } = error as ExecFileException; // what execFile rejects with
    throw new Error(`${file} ${args.join(" ")}: ${`${stdout}\n${stderr}`.trim().slice(-4_000) || message}`, {
      cause: error,
    });
  }
}
