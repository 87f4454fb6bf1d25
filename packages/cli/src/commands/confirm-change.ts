// What commands that change history have in common: they show what they are about to change, ask a person at a terminal,
// change it and tell the processes.
import type { ClearRequest, DagVersions, Operated, TargetSelection, TargetTask } from "@millrace/shared/db";
import { InvalidArgumentError, type Command } from "commander";
import type { DatabaseWork } from "../actions.ts";
import { instant } from "../io/arguments.ts";
import type { Io } from "../io/io.ts";
import { Ended } from "../io/report-error.ts";
import { printList, type Column } from "../output/format.ts";

export interface Change {
  /** As in "clear 3 task instances". */
  readonly verb: string;
  readonly yes: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  readonly run: (dryRun: boolean) => Promise<Operated>;
}

const DAG: Column<TargetTask> = { key: "dag_id", value: (task) => task.dagId };
const COLUMNS: readonly Column<TargetTask>[] = [
  { key: "run_id", value: (task) => task.runId },
  { key: "task_id", value: (task) => task.taskId },
  {
    key: "map_index",
    value: (task) => task.mapIndex,
    shown: (task) => (task.mapIndex < 0 ? "-" : String(task.mapIndex)),
  },
  { key: "state", value: (task) => task.state },
  { key: "try_number", value: (task) => task.tryNumber },
];

/** Lists what would change and does it, unless it is a dry run, nothing is to do, or the answer is no. */
export async function confirmChange(io: Io, { config }: DatabaseWork, change: Change): Promise<void> {
  const planned = await change.run(true);
  const isOneDag = new Set(planned.tasks.map((task) => task.dagId)).size <= 1;
  await printList(io, "table", isOneDag ? COLUMNS : [DAG, ...COLUMNS], planned.tasks.toSorted(byName));
  if (change.dryRun === true || planned.tasks.length === 0) return;
  await confirm(io, `${change.verb} ${count(planned.tasks.length)}?`, change.yes);
  const { openAnnouncer } = await import("../process/announce-change.ts");
  const announcer = await openAnnouncer(config);
  let operated: Operated;
  try {
    operated = await change.run(false);
    announcer.announce(operated);
  } finally {
    await announcer.close();
  }
  io.note(`${change.verb}: ${count(operated.tasks.length)}${waiting(operated)}`);
}

const byName = (a: TargetTask, b: TargetTask): number =>
  a.runId.localeCompare(b.runId) || a.taskId.localeCompare(b.taskId) || a.mapIndex - b.mapIndex;

/** Asks at a terminal only: a script has said what it wants. */
export async function confirm(io: Io, question: string, yes: boolean | undefined): Promise<void> {
  if (yes === true || io.ask === undefined) return;
  const answer = await io.ask(`${question} [y/N] `);
  if (/^y(es)?$/i.test(answer.trim())) return;
  io.note("nothing was changed");
  throw new Ended(1);
}

const count = (n: number): string => `${n} task instance${n === 1 ? "" : "s"}`;

export const waiting = ({ stopped }: Pick<Operated, "stopped">): string =>
  stopped.length === 0 ? "" : `, ${stopped.length} of which a worker has to stop first`;

export const collect = (given: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  given,
];

export function pattern(given: string): RegExp {
  try {
    return new RegExp(given);
  } catch (error) {
    throw new InvalidArgumentError(
      `It is not a regular expression: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
}

export interface SelectionOptions {
  readonly taskRegex?: RegExp;
  readonly run?: readonly string[];
  readonly startDate?: Date;
  readonly endDate?: Date;
  readonly upstream?: boolean;
  readonly downstream?: boolean;
  readonly past?: boolean;
  readonly future?: boolean;
}

/** The options by which commands say which task instances they mean. */
export const addSelection = (command: Command): Command =>
  command
    .option("-t, --task-regex <regex>", "Tasks whose id it matches anywhere.", pattern)
    .option("-r, --run <run>", "A run by its id or logical date; more than once for several.", collect)
    .option("-s, --start-date <date>", "Runs from this logical date on.", instant)
    .option("-e, --end-date <date>", "Runs up to this logical date.", instant)
    .option("-u, --upstream", "And everything upstream.")
    .option("-d, --downstream", "And everything downstream.")
    .option("--past", "And the runs before.")
    .option("--future", "And the runs after.");

export async function selectionOf(
  work: DatabaseWork,
  dagId: string,
  taskIds: readonly string[],
  options: SelectionOptions,
): Promise<TargetSelection & Pick<ClearRequest, "user">> {
  const [{ findRun }, { userName }] = await Promise.all([import("./find-run.ts"), import("../user-name.ts")]);
  const runIds =
    options.run === undefined
      ? undefined
      : await Promise.all(options.run.map(async (run) => (await findRun(work, dagId, run)).runId));
  return {
    dagId,
    user: `cli ${userName()}`,
    taskIds,
    ...(options.taskRegex === undefined ? {} : { pattern: options.taskRegex }),
    ...(runIds === undefined ? {} : { runIds }),
    ...(options.startDate === undefined ? {} : { from: options.startDate }),
    ...(options.endDate === undefined ? {} : { to: options.endDate }),
    upstream: options.upstream ?? false,
    downstream: options.downstream ?? false,
    past: options.past ?? false,
    future: options.future ?? false,
  };
}

export async function openVersions({ db }: DatabaseWork): Promise<DagVersions> {
  const { DagVersions } = await import("@millrace/shared/db");
  return new DagVersions(db);
}
