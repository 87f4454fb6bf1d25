import type { DagExplanation, RunExplanation, TaskExplanation } from "@millrace/shared/db";
import type { Condition } from "@millrace/shared/model";
import type { Command } from "commander";
import { mapIndex } from "../io/arguments.ts";
import { newCommand } from "../io/command.ts";
import type { Io } from "../io/io.ts";
import { withMasked } from "../open-secrets.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../output/format.ts";
import { paintState } from "../output/paint-state.ts";

interface Options extends OutputOption {
  readonly mapIndex: number;
}

type Row = RunExplanation["tasks"][number];

export const explain = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "explain", {
      about:
        "Say why a DAG gets no run, or why a run or one task of it is where it is: what it waits for, and who holds that.",
      examples: [
        "explain report",
        "explain hello manual__1",
        "explain report 2026-01-31 load",
        "explain report 2026-01-31 load -o json",
      ],
    })
      .argument("<dag>", "Id of the DAG.")
      .argument("[run]", "Run id, or logical date. Default: what the DAG waits for before it gets a run.")
      .argument("[task]", "Id of the task. Default: the run as a whole.")
      .option("--map-index <n>", "Which instance of a mapped task.", mapIndex, -1),
  ).action(async (dagId: string, run: string | undefined, taskId: string | undefined, options: Options) => {
    await withMasked(io, async ({ db, config, io: masked }) => {
      const [{ DagVersions, explainDag, explainRun, explainTask }, { describeCondition }, { findRun }] =
        await Promise.all([import("@millrace/shared/db"), import("@millrace/shared/model"), import("./find-run.ts")]);
      const versions = new DagVersions(db, undefined, config.core.max_map_length);
      if (run === undefined) {
        const found = await explainDag(db, versions, config, dagId);
        await printDag(masked, options.output, found, describeCondition);
        return;
      }
      const { runId } = await findRun({ db }, dagId, run);
      const found =
        taskId === undefined
          ? await explainRun(db, versions, config, dagId, runId)
          : await explainTask(db, versions, config, dagId, runId, taskId, options.mapIndex);
      await print(masked, options.output, found, describeCondition);
    });
  });

type Say = (condition: Condition) => string;

async function printDag(io: Io, output: OutputOption["output"], found: DagExplanation, say: Say): Promise<void> {
  if (output === "table") {
    io.out(`${found.dagId}${found.isPaused ? " is paused" : ""}\n`);
    for (const condition of found.conditions) io.out(`  ${say(condition)}\n`);
    return;
  }
  const conditions = found.conditions.map((condition) => ({ ...condition, text: say(condition) }));
  const columns = [
    { key: "dag_id", value: () => found.dagId },
    { key: "is_paused", value: () => found.isPaused },
    { key: "earliest", value: () => found.earliest },
    { key: "conditions", value: () => conditions },
  ];
  await printList(io, output, columns, [found]);
}

async function print(
  io: Io,
  output: OutputOption["output"],
  found: RunExplanation | TaskExplanation,
  say: Say,
): Promise<void> {
  const columns: readonly Column<Row>[] = [
    { key: "task_id", value: (row) => row.taskId, shown: nameOf },
    { key: "map_index", value: (row) => row.mapIndex, for: "programs" },
    { key: "state", value: (row) => row.state },
    { key: "since", value: (row) => row.since },
    { key: "earliest", value: (row) => row.earliest, for: "programs" },
    {
      key: "conditions",
      value: (row) => row.conditions.map((condition) => ({ ...condition, text: say(condition) })),
      shown: (row) => row.conditions.map(say).join("; "),
    },
  ];
  if (output === "json" || output === "yaml") {
    const { dagId, runId, state, since, earliest } = found;
    const rows = "tasks" in found ? found.tasks : [found];
    const conditions = found.conditions.map((condition) => ({ ...condition, text: say(condition) }));
    await printList(
      io,
      output,
      [
        { key: "dag_id", value: () => dagId },
        { key: "run_id", value: () => runId },
        { key: "task_id", value: () => ("tasks" in found ? null : found.taskId) },
        { key: "map_index", value: () => ("tasks" in found ? null : found.mapIndex) },
        { key: "state", value: () => state },
        { key: "since", value: () => since },
        { key: "earliest", value: () => earliest },
        { key: "conditions", value: () => conditions },
        { key: "holders", value: () => found.holders },
        {
          key: "tasks",
          value: () =>
            "tasks" in found
              ? rows.map((row) => Object.fromEntries(columns.map((column) => [column.key, column.value(row)])))
              : null,
        },
      ],
      [found],
    );
    return;
  }
  const what = "tasks" in found ? `run ${found.runId}` : nameOf(found);
  const since = found.since === null ? "" : ` since ${found.since.toISOString().replace(/\.\d+Z$/, "Z")}`;
  io.out(`${what} of ${found.dagId} is ${paintState(io, found.state)}${since}\n`);
  for (const condition of found.conditions) io.out(`  ${say(condition)}\n`);
  if (found.holders.length > 0) {
    io.out("held by:\n");
    for (const holder of found.holders) {
      const slots = holder.slots === 1 ? "" : `, ${holder.slots} slots`;
      io.out(`  ${holder.dagId} ${holder.runId} ${nameOf(holder)} (${holder.state}${slots})\n`);
    }
  }
  if ("tasks" in found && found.tasks.length > 0) {
    io.out("\n");
    await printList(io, output, columns, found.tasks);
  }
}

const nameOf = ({ taskId, mapIndex: index }: { readonly taskId: string; readonly mapIndex: number }): string =>
  index < 0 ? taskId : `${taskId}[${index}]`;
