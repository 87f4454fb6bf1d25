import type { QuestionRow } from "@millrace/shared/db";
import type { Command } from "commander";
import { mapIndex } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withMasked } from "../../open-secrets.ts";
import { findQuestion } from "./find-question.ts";

export const show = (io: Io): Command =>
  newCommand(io, "show", { about: "Show one question whole.", examples: ["hitl show release manual__1 approve"] })
    .argument("<dag>", "Id of the DAG.")
    .argument("<run>", "Run id, or logical date.")
    .argument("<task>", "Id of the task.")
    .option("--map-index <n>", "Which instance of a mapped task.", mapIndex)
    .action(async (dagId: string, run: string, taskId: string, options: { readonly mapIndex?: number }) => {
      await withMasked(io, async ({ db, io: masked }) => {
        masked.out(describe(masked, await findQuestion(db, dagId, run, taskId, options.mapIndex ?? -1)));
      });
    });

function describe(io: Io, q: QuestionRow): string {
  const lines = [io.colors.bold(q.subject)];
  if (q.body !== null) lines.push("", q.body);
  lines.push("", ...q.options.map((option) => `  ${marker(q, option)} ${option}`), "");
  for (const [name, schema] of Object.entries(q.params)) lines.push(`  ${name}: ${JSON.stringify(schema)}`);
  lines.push(q.multiple ? "several may be chosen" : "one is to be chosen");
  if (q.assignees.length > 0) lines.push(`asked of ${q.assignees.map((one) => one.name).join(", ")}`);
  lines.push(
    `asked at ${q.createdAt.toISOString()}${q.expiresAt === null ? "" : `, until ${q.expiresAt.toISOString()}`}`,
  );
  if (q.respondedAt !== null) lines.push(`answered by ${q.respondedBy?.name} at ${q.respondedAt.toISOString()}`);
  else if (q.state !== "deferred") lines.push(`its task is ${q.state} and waits no longer`);
  return `${lines.join("\n")}\n`;
}

/** What was chosen, or else what is taken when nobody answers in time. */
function marker({ chosenOptions, defaults }: QuestionRow, option: string): string {
  if (chosenOptions !== null) return chosenOptions.includes(option) ? "●" : "○";
  return defaults?.includes(option) === true ? "◐" : "○";
}
