import type { Command } from "commander";
import { wholeNumber } from "../../io/arguments.ts";

export interface WaitOption {
  readonly wait: number;
}

export const addWaitOption = (command: Command): Command =>
  command.option(
    "--wait <seconds>",
    "Wait this long for the database (up and migrated) and the broker.",
    wholeNumber(0),
    0,
  );
