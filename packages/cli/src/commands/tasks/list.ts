import type { TaskSpec } from "@millrace/sdk/spec";
import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";

const COLUMNS: readonly Column<TaskSpec>[] = [
  { key: "task_id", value: (task) => task.taskId },
  { key: "operator", value: (task) => task.operator },
  { key: "upstream", value: (task) => task.upstream },
  { key: "trigger_rule", value: (task) => task.triggerRule },
  { key: "retries", value: (task) => task.retries },
  { key: "pool", value: (task) => task.pool },
  { key: "queue", value: (task) => task.queue },
];

export const list = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "list", {
      about: "List the tasks of a DAG.",
      examples: ["tasks list hello", "tasks list hello -o json"],
    }).argument("<dag>", "Id of the DAG."),
  ).action(async (dagId: string, options: OutputOption) => {
    const spec = await withDatabase(io, async ({ db }) => {
      const { getDag, getDagSpec } = await import("@millrace/shared/db");
      await getDag(db, dagId);
      return await getDagSpec(db, dagId);
    });
    await printList(io, options.output, COLUMNS, spec.tasks);
  });
