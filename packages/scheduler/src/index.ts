import type { Service } from "@millrace/shared/lifecycle";
import type { SchedulerDeps } from "./deps.ts";
import { Scheduler } from "./scheduler.ts";

export type { SchedulerDeps } from "./deps.ts";

/** The process that decides. Register it any number of times: schedulers share their work. */
export const createScheduler = (deps: SchedulerDeps): Service => new Scheduler(deps);
