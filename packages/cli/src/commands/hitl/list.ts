import type { QuestionRow } from "@millrace/shared/db";
import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withMasked } from "../../open-secrets.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";

const instant = (at: Date | null): string | null => at?.toISOString() ?? null;

const COLUMNS: readonly Column<QuestionRow>[] = [
  { key: "dag_id", value: (q) => q.dagId },
  { key: "run_id", value: (q) => q.runId },
  { key: "task_id", value: (q) => (q.mapIndex < 0 ? q.taskId : `${q.taskId}[${q.mapIndex}]`) },
  { key: "subject", value: (q) => q.subject },
  { key: "options", value: (q) => q.options, shown: (q) => q.options.join(" | ") },
  { key: "asked", value: (q) => instant(q.createdAt) },
  { key: "until", value: (q) => instant(q.expiresAt), shown: (q) => instant(q.expiresAt) ?? "no end" },
  {
    key: "answer",
    value: (q) => q.chosenOptions,
    shown: (q) => (q.respondedAt === null ? "" : `${q.chosenOptions?.join(", ")} by ${q.respondedBy?.name}`),
  },
  { key: "assigned", value: (q) => q.assignees.map((one) => one.name), for: "programs" },
  { key: "params", value: (q) => q.params, for: "programs" },
];

interface Options extends OutputOption {
  readonly all?: boolean;
}

export const list = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "list", {
      about: "List what tasks ask people and nobody has answered yet.",
      examples: ["hitl list", "hitl list release --all", "hitl list -o json"],
    }),
  )
    .argument("[dag]", "Id of the DAG. Default: all.")
    .option("-a, --all", "Also what was answered, or is asked no more.")
    .action(async (dagId: string | undefined, options: Options) => {
      await withMasked(io, async ({ db, io: masked }) => {
        const { listQuestions } = await import("@millrace/shared/db");
        const page = await listQuestions(db, { dagId, ...(options.all === true ? {} : { isAnswered: false }) });
        await printList(masked, options.output, COLUMNS, page.items);
      });
    });
