// `dags simulate` at work: finds the DAG, plays its schedule, draws bars for a few runs and sums up many.
import { simulate, type OutcomeRule, type SimulationResult } from "@millrace/sdk/testing";
import { findDag } from "../../load-dag/find-dag.ts";
import type { Io } from "../../io/io.ts";
import { paintState } from "../../output/paint-state.ts";
import { createProgressLine } from "../../output/progress-line.ts";
import { configOf } from "../../process/config-of.ts";
import type { SimulateCommandOptions } from "./simulate.ts";

/** More runs than this are summed up instead of drawn. */
const DRAWN_AT_MOST = 24;

export async function runSimulation(io: Io, fileOrId: string, options: SimulateCommandOptions): Promise<void> {
  const config = configOf(io, {}, []);
  const { spec, artifact } = await findDag(config, fileOrId, options.dag, io.cwd);
  const begun = performance.now();
  const progress = createProgressLine(io);
  const result = simulate(spec, {
    onProgress: ({ now, runs }) => progress.show(`playing ${spec.dagId}: at ${iso(now)}, ${runs} runs`),
    ...(artifact.planRuns === undefined ? {} : { planRuns: artifact.planRuns }),
    from: options.from,
    until: options.until,
    outcomes: rulesOf(options),
    triggers: options.trigger,
    seed: options.seed,
    limits: {
      parallelism: config.core.parallelism,
      maxActiveRuns: config.core.max_active_runs_per_dag,
      maxActiveTasks: config.core.max_active_tasks_per_dag,
      pools: { default_pool: config.core.default_pool_task_slot_count },
    },
  });
  progress.end();
  const seconds = (performance.now() - begun) / 1000;
  if (options.output === "json") {
    const { dagId, from, until, runs, summary } = result;
    io.out(`${JSON.stringify({ dagId, from, until, summary, runs }, undefined, 2)}\n`);
    return;
  }
  if (options.timeline === true || result.runs.length <= DRAWN_AT_MOST) {
    io.out(`${result.timeline({ maxRuns: 200, paint: (bar, state) => paintState(io, state).replace(state, bar) })}\n`);
  }
  io.out(summarize(io, result, seconds));
}

/** One rule a task, of its outcomes and its duration. */
function rulesOf({ outcome, duration, wait }: SimulateCommandOptions): Record<string, OutcomeRule> {
  const ids = new Set([...outcome, ...duration, ...wait].map(({ taskId }) => taskId));
  const seconds = new Map(duration.map((one) => [one.taskId, one.seconds]));
  return Object.fromEntries(
    [...ids].map((id): [string, OutcomeRule] => {
      const chances = { failed: 0, skipped: 0 };
      for (const { taskId, state, probability } of outcome) {
        if (taskId === id && state !== "success") chances[state] = probability;
      }
      const waits = wait.find(({ taskId }) => taskId === id)?.seconds;
      if (waits !== undefined) {
        const { failed, skipped } = chances;
        return [
          id,
          ({ random }) => {
            const draw = random();
            const state = draw < failed ? "failed" : draw < failed + skipped ? "skipped" : "success";
            return { state, wait: waits, duration: seconds.get(id) ?? seconds.get("*") ?? 1 };
          },
        ];
      }
      return [id, { ...chances, duration: seconds.get(id) ?? seconds.get("*") ?? 1 }];
    }),
  );
}

function summarize(io: Io, { dagId, from, until, runs, summary }: SimulationResult, seconds: number): string {
  const counts = (by: Readonly<Record<string, number>>) =>
    Object.entries(by)
      .map(([state, count]) => `${count} ${paintState(io, state)}`)
      .join(", ") || "none";
  const { lateness, duration, peak, busiest, waits, pausedAt } = summary;
  const spread = ({ median, p95, max }: typeof lateness) =>
    `median ${say(median)}, 95 % within ${say(p95)}, at most ${say(max)}`;
  const waited = Object.entries(waits)
    .sort(([, a], [, b]) => b - a)
    .map(([why, total]) => `${why.replaceAll("_", " ")} ${say(total)}`);
  const lines: [string, string][] = [
    ["runs", counts(summary.runs)],
    ["tasks", `${counts(summary.tasks)}; ${summary.tries} tries`],
    ["start after due", spread(lateness)],
    ["length of a run", spread(duration)],
    ["most at once", peak.at === null ? "nothing ran" : `${peak.tasks} tasks at ${iso(peak.at)}`],
    ["busiest hour", busiest === null ? "none" : `${busiest.tries} tries from ${iso(busiest.from)}`],
    ["waited for", waited.join(", ") || "nothing"],
    ...(pausedAt === null
      ? []
      : [["paused", `at ${iso(pausedAt)}: its newest runs had all failed`] as [string, string]]),
  ];
  const width = Math.max(...lines.map(([label]) => label.length));
  const head = `${io.colors.bold(dagId)} from ${iso(from)} until ${iso(until)}: ${runs.length} runs, played in ${seconds.toFixed(2)} s`;
  return `${[head, ...lines.map(([label, text]) => `  ${io.colors.dim(label.padEnd(width))}  ${text}`)].join("\n")}\n`;
}

const iso = (date: Date): string => date.toISOString().replace(/:00\.000Z$|\.\d+Z$/, "Z");

function say(seconds: number): string {
  if (seconds < 120) return `${Number(seconds.toFixed(1))} s`;
  if (seconds < 7_200) return `${Number((seconds / 60).toFixed(1))} min`;
  return seconds < 172_800 ? `${Number((seconds / 3_600).toFixed(1))} h` : `${Number((seconds / 86_400).toFixed(1))} d`;
}
