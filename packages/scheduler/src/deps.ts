import type { Config } from "@millrace/shared/config";
import type { Database, DagVersions, Queryable } from "@millrace/shared/db";
import type { Clock } from "@millrace/shared/lifecycle";
import type { Logger } from "@millrace/shared/observability";
import type { Broker } from "@millrace/shared/queue";

/** What the process is given. */
export interface SchedulerDeps {
  readonly db: Database;
  readonly broker: Broker;
  readonly config: Config;
  readonly log: Logger;
  readonly clock?: Clock;
}

/** What an actor within one transaction needs. */
export interface ActorDeps {
  readonly tx: Queryable;
  readonly versions: DagVersions;
  readonly config: Config;
  readonly log: Logger;
}
