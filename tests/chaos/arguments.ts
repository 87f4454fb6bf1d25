// What the fault suite is asked for on its command line.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

/** Those of every CI run. */
export const SEEDS: readonly number[] = [1, 2, 3, 5, 8, 13];

export const USAGE = `Usage: npm run test:chaos -- [what] [options]

What is played. Each seed is one test, and so is each crash point with each action, and each time:
  --seed S, --seeds A,B,…   the faults that follow from these seeds; without any of these flags ${SEEDS.join(", ")}
  --points                  each crash point of the code with each action
  --speed                   the times that docs/reliability.md promises
  --all                     all of it

Options:
  --minutes N               how long a seed's faults go on (1)
  --at-once K               how many trials are played beside each other (1)
  --redis-away SECONDS      how long Redis is away in --speed (30)
  --beside REF              a scheduler, a worker and a triggerer of this commit, started on its schema, live on beside the
                            others after the schema was migrated, as while an installation is upgraded
  --keep FOLDER             where what failed is kept (${join(tmpdir(), "millrace-chaos-failures")})
  --help                    this text

The last line says how many passed and failed; the exit code is 0 when none failed, and 2 when the flags are wrong.`;

export interface Asked {
  readonly seeds: readonly number[];
  readonly points: boolean;
  readonly speed: boolean;
  readonly minutes: number;
  readonly atOnce: number;
  readonly redisAwaySeconds: number;
  readonly beside: string | undefined;
  readonly keep: string;
}

/** A flag that is not there, or has a value that it cannot have. */
export class WrongFlagError extends Error {}

const OPTIONS = {
  seed: { type: "string" },
  seeds: { type: "string" },
  minutes: { type: "string", default: "1" },
  points: { type: "boolean", default: false },
  speed: { type: "boolean", default: false },
  "redis-away": { type: "string", default: "30" },
  all: { type: "boolean", default: false },
  "at-once": { type: "string", default: "1" },
  beside: { type: "string" },
  keep: { type: "string", default: join(tmpdir(), "millrace-chaos-failures") },
  help: { type: "boolean", default: false },
} as const;

/**
 * @returns undefined when the usage was asked for
 * @throws WrongFlagError
 */
export function readArguments(args: readonly string[]): Asked | undefined {
  const values = parse(args);
  if (values.help) return undefined;
  if (values.seed !== undefined && values.seeds !== undefined)
    throw new WrongFlagError("--seed and --seeds are two ways to say the same: give one of them");
  const given = values.seed ?? values.seeds;
  const isPartOnly = (values.points || values.speed) && !values.all;
  const name = values.seed === undefined ? "seeds" : "seed";
  return {
    seeds:
      given === undefined ? (isPartOnly ? [] : SEEDS) : given.split(",").map((seed) => number(name, seed, 0, true)),
    points: values.points || values.all,
    speed: values.speed || values.all,
    minutes: number("minutes", values.minutes, 0.1),
    atOnce: number("at-once", values["at-once"], 1, true),
    redisAwaySeconds: number("redis-away", values["redis-away"], 1),
    beside: values.beside,
    keep: values.keep,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new WrongFlagError((error as Error).message);
  }
}

function number(flag: string, given: string, least: number, isWhole = false): number {
  const value = given.trim() === "" ? NaN : Number(given);
  if (value >= least && Number.isFinite(value) && (!isWhole || Number.isInteger(value))) return value;
  throw new WrongFlagError(`--${flag} takes ${isWhole ? "a whole number" : "a number"} from ${least} on, not ${given}`);
}
