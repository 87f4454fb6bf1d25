import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withMasked } from "../../open-secrets.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";
import { ASSET_COLUMNS } from "./columns.ts";

interface Waiting {
  readonly dagId: string;
  readonly createdAt: Date;
}

const WAITING_COLUMNS: readonly Column<Waiting>[] = [
  { key: "waits_for_more", value: (row) => row.dagId },
  { key: "since", value: (row) => row.createdAt },
];

export const details = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "details", {
      about: "Show one asset, and the DAGs for which its events wait until the rest of their condition has come.",
      examples: ["assets details orders", "assets details s3://lake/orders -o json"],
    }).argument("<asset>", "Its name, its uri or its id."),
  ).action(async (which: string, options: OutputOption) => {
    await withMasked(io, async ({ db, io: masked }) => {
      const { findAsset, readQueuedEvents } = await import("@millrace/shared/db");
      const asset = await findAsset(db, which);
      const waiting = await db.run(readQueuedEvents, [asset.id, null, null]);
      const queued = { key: "queued_for", value: () => waiting.map((row) => row.dagId), for: "programs" } as const;
      await printList(masked, options.output, [...ASSET_COLUMNS, queued], [asset]);
      if (options.output === "table" && waiting.length > 0) await printList(masked, "table", WAITING_COLUMNS, waiting);
    });
  });
