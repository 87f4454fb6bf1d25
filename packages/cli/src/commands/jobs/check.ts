import { Option, type Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { Ended } from "../../io/report-error.ts";

const TYPES = ["SchedulerJob", "DagProcessorJob", "WorkerJob", "TriggererJob"] as const;

interface Options {
  readonly jobType?: (typeof TYPES)[number];
  readonly hostname?: string;
  readonly local?: boolean;
}

export const check = (io: Io): Command =>
  newCommand(io, "check", {
    about: "End with 0 when a process lives: its heartbeat is fresh. For probes.",
    examples: ["jobs check --job-type SchedulerJob --local"],
  })
    .addOption(new Option("--job-type <type>", "Only processes of this kind.").choices(TYPES))
    .option("--hostname <name>", "Only those of this machine.")
    .option("--local", "Only those of the machine this runs on.")
    .action(async (options: Options) => {
      const alive = await withDatabase(io, async ({ db, config }) => {
        const { HOSTNAME, listJobs } = await import("@millrace/shared/db");
        const { items } = await listJobs(db, {
          aliveSeconds: config.scheduler.scheduler_health_check_threshold,
          isAlive: true,
          jobType: options.jobType,
          hostname: options.local === true ? HOSTNAME : options.hostname,
        });
        return items;
      });
      for (const job of alive) io.out(`${job.jobType} ${job.id} on ${job.hostname ?? "?"} lives\n`);
      if (alive.length > 0) return;
      io.note(`no ${options.jobType ?? "process"} lives`);
      throw new Ended(1);
    });
