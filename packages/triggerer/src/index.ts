import type { Config } from "@millrace/shared/config";
import { Job, type Database } from "@millrace/shared/db";
import type { Service } from "@millrace/shared/lifecycle";
import type { Logger } from "@millrace/shared/observability";

export interface TriggererDeps {
  readonly db: Database;
  readonly config: Config;
  readonly log: Logger;
}

/** The process that waits for deferred tasks. It is seen by its job row, so that health checks know whether one lives. */
export function createTriggerer({ db, config, log }: TriggererDeps): Service {
  return new Job({
    db,
    type: "TriggererJob",
    heartbeatSeconds: config.triggerer.job_heartbeat_sec,
    log,
    concurrency: config.triggerer.capacity,
  });
}
