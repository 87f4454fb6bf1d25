import type { Json } from "@millrace/sdk/spec";
import { AppError } from "@millrace/shared/errors";
import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { mapIndex } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { announceChange } from "../../process/announce-change.ts";
import { userName } from "../../user-name.ts";
import { findQuestion } from "./find-question.ts";

interface Options {
  readonly mapIndex?: number;
  readonly param?: readonly string[];
}

export const answer = (io: Io): Command =>
  newCommand(io, "answer", {
    about: "Answer what a task asks. The first answer counts.",
    examples: [
      "hitl answer release manual__1 approve Approve",
      "hitl answer report manual__1 pick north south -p limit=5",
    ],
  })
    .argument("<dag>", "Id of the DAG.")
    .argument("<run>", "Run id, or logical date.")
    .argument("<task>", "Id of the task.")
    .argument("<option...>", "What is chosen.")
    .option("--map-index <n>", "Which instance of a mapped task.", mapIndex)
    .option("-p, --param <name=value...>", "A field of the form: JSON, or else text.")
    .action(async (dagId: string, run: string, taskId: string, chosen: readonly string[], options: Options) => {
      await withDatabase(io, async ({ db, config }) => {
        const { answerTask } = await import("@millrace/shared/db");
        const { runId, mapIndex: index } = await findQuestion(db, dagId, run, taskId, options.mapIndex ?? -1);
        const { dagRunIds } = await answerTask(db, {
          dagId,
          runId,
          taskId,
          mapIndex: index,
          chosenOptions: chosen,
          paramsInput: Object.fromEntries((options.param ?? []).map((given) => readParam(taskId, given))),
          user: userName(),
        });
        await announceChange(config, { dagRunIds, stopped: [] });
        io.out(`${dagId} ${runId}: ${taskId} goes on with ${chosen.join(", ")}\n`);
      });
    });

function readParam(taskId: string, given: string): readonly [name: string, value: Json] {
  const at = given.indexOf("=");
  if (at <= 0)
    throw new AppError("ANSWER_INVALID", { taskId, cause: `a param is given as name=value, got "${given}"` });
  const text = given.slice(at + 1);
  try {
    return [given.slice(0, at), JSON.parse(text) as Json];
  } catch {
    return [given.slice(0, at), text];
  }
}
