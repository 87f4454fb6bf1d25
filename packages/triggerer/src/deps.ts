import type { Config } from "@millrace/shared/config";
import type { Database } from "@millrace/shared/db";
import type { Logger } from "@millrace/shared/observability";
import type { Broker } from "@millrace/shared/queue";

/** What the process is given. */
export interface TriggererDeps {
  readonly db: Database;
  readonly broker: Broker;
  readonly config: Config;
  readonly log: Logger;
}
