import type { Command } from "commander";
import { newGroup } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { check } from "./check.ts";

export const jobs = (io: Io): Command =>
  newGroup(io, "jobs", { about: "See whether processes live.", examples: ["jobs check --job-type SchedulerJob"] }, [
    check(io),
  ]);
