import type { Service } from "@millrace/shared/lifecycle";
import type { TriggererDeps } from "./deps.ts";
import { Triggerer } from "./triggerer.ts";

export type { TriggererDeps } from "./deps.ts";

/** The process that waits for deferred tasks. Its capacity and its queues are in `config.triggerer`. */
export const createTriggerer = (deps: TriggererDeps): Service => new Triggerer(deps);
