import type { Command } from "commander";
import { newGroup } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { rebuild } from "./rebuild.ts";

export const queue = (io: Io): Command =>
  newGroup(io, "queue", { about: "Put the broker's queues right.", examples: ["queue rebuild"] }, [rebuild(io)]);
