import type { Service } from "@millrace/shared/lifecycle";
import type { WorkerDeps } from "./deps.ts";
import { Worker } from "./worker.ts";

export type { WorkerDeps } from "./deps.ts";
export { renderNow, type RenderDeps } from "./render/render-now.ts";

/** The process that runs tasks. Its queues and concurrency are in `config.workers`. */
export const createWorker = (deps: WorkerDeps): Service => new Worker(deps);
