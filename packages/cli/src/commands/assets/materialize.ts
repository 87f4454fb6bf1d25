import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { jsonObject } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addOutputOption, printList, type OutputOption } from "../../output/format.ts";
import { userName } from "../../user-name.ts";

interface Options extends OutputOption {
  readonly conf?: Record<string, unknown>;
  readonly partitionKey?: string;
}

export const materialize = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "materialize", {
      about: "Start a run of the DAG that updates an asset.",
      examples: ["assets materialize orders", "assets materialize orders --partition-key 2026-01-31 -o json"],
    })
      .argument("<asset>", "Its name, its uri or its id.")
      .option("-c, --conf <json>", "What the run is started with: a JSON object.", jsonObject)
      .option("--partition-key <key>", "Which part of the data: its events have this key."),
  ).action(async (which: string, options: Options) => {
    await withDatabase(io, async ({ db, config }) => {
      const [{ DagVersions, findAsset, materializeAsset }, { wakeSchedulers }] = await Promise.all([
        import("@millrace/shared/db"),
        import("../../process/wake-schedulers.ts"),
      ]);
      const asset = await findAsset(db, which);
      const run = await materializeAsset(db, new DagVersions(db), {
        assetId: asset.id,
        conf: options.conf,
        logicalDate: null,
        partitionKey: options.partitionKey,
        triggeredBy: "cli",
        user: userName(),
      });
      await wakeSchedulers(config, run.id);
      const columns = [
        { key: "dag_id", value: () => run.dagId },
        { key: "run_id", value: () => run.runId },
      ];
      await printList(io, options.output, columns, [run]);
    });
  });
