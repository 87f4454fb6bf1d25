import { InvalidArgumentError, Option, type Command } from "commander";
import { instant, wholeNumber } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";

export interface SimulateCommandOptions {
  readonly dag?: string;
  readonly from: Date;
  readonly until: Date;
  readonly outcome: readonly TaskOutcome[];
  readonly duration: readonly TaskDuration[];
  readonly wait: readonly TaskDuration[];
  readonly trigger: readonly Date[];
  readonly seed: number;
  readonly output: "table" | "json";
  readonly timeline?: boolean;
}

export interface TaskOutcome {
  readonly taskId: string;
  readonly state: "success" | "failed" | "skipped";
  readonly probability: number;
}

export interface TaskDuration {
  readonly taskId: string;
  readonly seconds: number;
}

const UNITS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 };

function outcome(given: string, before: readonly TaskOutcome[] = []): readonly TaskOutcome[] {
  const [, taskId, state, probability] = /^(.+)=(success|failed|skipped)(?::(\d*\.?\d+))?$/.exec(given) ?? [];
  if (taskId === undefined || state === undefined || Number(probability ?? 1) > 1) {
    throw new InvalidArgumentError(
      "Give a task and a state, with a probability from 0 to 1 if it is not always: load=failed:0.1.",
    );
  }
  // The pattern knows no other states.
  return [...before, { taskId, state: state as TaskOutcome["state"], probability: Number(probability ?? 1) }];
}

function duration(given: string, before: readonly TaskDuration[] = []): readonly TaskDuration[] {
  const [, taskId, amount, unit = "s"] = /^(.+)=(\d*\.?\d+)(ms|s|m|h|d)?$/.exec(given) ?? [];
  if (taskId === undefined)
    throw new InvalidArgumentError("Give a task and how long it takes: load=30s, load=5m, *=10s.");
  return [...before, { taskId, seconds: Number(amount) * (UNITS[unit] ?? 1) }];
}

const moments = (given: string, before: readonly Date[] = []): readonly Date[] => [...before, instant(given)];

export const simulate = (io: Io): Command =>
  newCommand(io, "simulate", {
    about: "Play a DAG's schedule on a virtual clock: no services, and its handlers do not run.",
    examples: [
      "dags simulate ./dags/report.ts --from 2026-01-01 --until 2026-01-02",
      "dags simulate report --from 2026-01-01 --until 2027-01-01 --outcome load=failed:0.1 --duration load=5m",
      "dags simulate report --from 2026-01-01 --until 2026-02-01 -o json",
    ],
  })
    .argument("<file-or-id>", "A DAG file, or the id of a DAG in core.dags_folder.")
    .option("--dag <id>", "Which DAG of a file that has several.")
    .requiredOption("--from <date>", "The virtual clock starts here.", instant)
    .requiredOption("--until <date>", "No run is created from here on; those that exist go on to their end.", instant)
    .option(
      "--outcome <task=state[:probability]>",
      "How tries of a task end, * for all others. Default: success.",
      outcome,
      [],
    )
    .option("--duration <task=time>", "How long they take: 30s, 5m, 2h; * for all others. Default: 1s.", duration, [])
    .option("--wait <task=time>", "How long they are deferred until their event comes: 10m, 2h.", duration, [])
    .option("--trigger <date>", "A run by hand at this moment; may be given several times.", moments, [])
    .option("--seed <n>", "Of what is drawn: the same seed, the same history.", wholeNumber(0), 1)
    .option("--timeline", "Draw bars even when there are many runs.")
    .addOption(new Option("-o, --output <format>", "How to print it.").choices(["table", "json"]).default("table"))
    .action(async (fileOrId: string, options: SimulateCommandOptions) => {
      const { runSimulation } = await import("./run-simulation.ts");
      await runSimulation(io, fileOrId, options);
    });
