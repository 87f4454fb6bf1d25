import type { Command } from "commander";
import { withDatabase, type DatabaseWork } from "../../actions.ts";
import { instant, jsonObject } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { Ended } from "../../io/report-error.ts";
import { addOutputOption, printList, type OutputOption } from "../../output/format.ts";
import { userName } from "../../user-name.ts";

interface Options extends OutputOption {
  readonly runId?: string;
  readonly conf?: Record<string, unknown>;
  readonly logicalDate?: Date;
  readonly wait?: boolean;
}

export const trigger = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "trigger", {
      about: "Start a run of a DAG.",
      examples: ["dags trigger hello --wait", `dags trigger report -c '{"region": "eu"}' -l 2026-01-31 -o json`],
    })
      .argument("<dag>", "Id of the DAG.")
      .option("-r, --run-id <id>", "Id of the run. Default: one made of the time.")
      .option("-c, --conf <json>", "What the run is started with: a JSON object.", jsonObject)
      .option("-l, --logical-date <date>", "Logical date of the run. Default: now.", instant)
      .option("--wait", "Show its tasks until the run ends; end with 1 when it failed."),
  ).action(async (dagId: string, options: Options) => {
    await withDatabase(io, async (work) => {
      const created = await start(io, work, dagId, options);
      if (options.output === "table") io.out(`${created.runId}\n`);
      const { getRun } = await import("@millrace/shared/db");
      const watch = options.wait === true ? (await import("../watch-run.ts")).watchRun : undefined;
      const run = (await watch?.(io, work.db, created)) ?? (await getRun(work.db, dagId, created.runId));
      if (options.output !== "table") {
        await printList(
          io,
          options.output,
          [
            { key: "dag_id", value: () => run.dagId },
            { key: "run_id", value: () => run.runId },
            { key: "state", value: () => run.state },
            { key: "logical_date", value: () => run.logicalDate },
            { key: "conf", value: () => run.conf, for: "programs" },
          ],
          [run],
        );
      }
      // Without --wait the run was asked for, and what may have come of it already is not this command's affair.
      if (options.wait === true && run.state === "failed") throw new Ended(1);
    });
  });

async function start(io: Io, { db, config }: DatabaseWork, dagId: string, options: Options) {
  const [{ DagVersions, getDag, triggerRun }, { wakeSchedulers }] = await Promise.all([
    import("@millrace/shared/db"),
    import("../../process/wake-schedulers.ts"),
  ]);
  const created = await triggerRun(db, new DagVersions(db), {
    dagId,
    runId: options.runId,
    logicalDate: options.logicalDate,
    conf: options.conf,
    triggeredBy: "cli",
    user: userName(),
  });
  await wakeSchedulers(config, created.id);
  const { isPaused } = await getDag(db, dagId);
  if (isPaused) io.note(`${dagId} is paused: the run waits until \`millrace dags unpause ${dagId}\``);
  return created;
}
