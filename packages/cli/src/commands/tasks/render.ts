import type { Json } from "@millrace/sdk/spec";
import type { Command } from "commander";
import { withMasked } from "../../open-secrets.ts";
import { mapIndex } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";
import { findRun } from "../find-run.ts";

interface Options extends OutputOption {
  readonly mapIndex: number;
  readonly now?: boolean;
}

type Field = readonly [name: string, value: Json];

const COLUMNS: readonly Column<Field>[] = [
  { key: "field", value: ([name]) => name },
  { key: "value", value: ([, value]) => value },
];

export const render = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "render", {
      about: "Show the options of a task as its templates make them: those of its last try, or else as of now. Masked.",
      examples: ["tasks render report load manual__1", "tasks render report load 2026-01-31 --map-index 3 -o json"],
    })
      .argument("<dag>", "Id of the DAG.")
      .argument("<task>", "Id of the task.")
      .argument("<run>", "Run id, or logical date.")
      .option("--map-index <n>", "Which instance of a mapped task.", mapIndex, -1)
      .option("--now", "Render them now, whatever was stored."),
  ).action(async (dagId: string, taskId: string, run: string, options: Options) => {
    await withMasked(io, async ({ io: masked, ...work }) => {
      const { getTaskInstance } = await import("@millrace/shared/db");
      const { runId } = await findRun(work, dagId, run);
      const key = { dagId, taskId, runId, mapIndex: options.mapIndex };
      const { renderedFields } = await getTaskInstance(work.db, key);
      // As it was stored: JSON.
      let fields = Object.entries(renderedFields) as [string, Json][];
      if (options.now === true || fields.length === 0) {
        const { renderNow } = await import("@millrace/worker");
        io.note(`rendered now, for run ${runId}`);
        fields = Object.entries(await renderNow({ ...work, onLine: (line) => io.note(line) }, key));
      } else {
        io.note(`as the last try of run ${runId} had them`);
      }
      if (options.output === "table") print(masked, fields);
      else await printList(masked, options.output, COLUMNS, fields);
    });
  });

/** Each field as a block: a script has lines. */
function print(io: Io, fields: readonly Field[]): void {
  if (fields.length === 0) io.note("this task has no options that are templates");
  for (const [name, value] of fields) {
    const shown = io.mask?.(value) ?? value;
    const text = typeof shown === "string" ? shown : JSON.stringify(shown, undefined, 2);
    io.out(`${io.colors.bold(`${name}:`)}\n${text.replace(/^/gm, "  ")}\n`);
  }
}
