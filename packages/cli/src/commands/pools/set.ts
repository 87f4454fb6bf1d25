import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { wholeNumber } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";

interface Options {
  readonly includeDeferred?: boolean;
}

const SQL = `
insert into slot_pool (pool, slots, description, include_deferred) values ($1, $2, $3, $4)
on conflict (pool) do update set slots = excluded.slots, include_deferred = excluded.include_deferred,
  description = coalesce(excluded.description, slot_pool.description)`;

export const set = (io: Io): Command =>
  newCommand(io, "set", {
    about: "Create a pool or change it. Takes effect with the next task that is queued.",
    examples: ['pools set gpu 4 "one per card"', "pools set default_pool -1"],
  })
    .argument("<pool>", "Name of the pool.")
    .argument("<slots>", "Its slots; -1 for no limit.", wholeNumber(-1))
    .argument("[description]", "What it is for.")
    .option("--include-deferred", "Deferred tasks hold their slots.")
    // A negative number is no option here.
    .allowUnknownOption(false)
    .action(async (name: string, slots: number, description: string | undefined, options: Options) => {
      await withDatabase(io, async ({ db }) => {
        await db.read(SQL, [name, slots, description ?? null, options.includeDeferred === true]);
      });
      io.out(`${name} has ${slots === -1 ? "unlimited" : slots} slots\n`);
    });
