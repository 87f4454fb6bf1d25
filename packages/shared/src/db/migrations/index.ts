import type { Knex } from "knex";
import * as core from "./0001-core.ts";
import * as transitionLog from "./0002-transition-log.ts";
import * as assets from "./0003-assets.ts";
import * as callbacks from "./0004-callbacks.ts";
import * as runMark from "./0005-run-mark.ts";
import * as waiting from "./0006-waiting.ts";
import * as timetable from "./0007-timetable.ts";
import * as backfill from "./0008-backfill.ts";
import * as jobIdentity from "./0009-job-identity.ts";
import * as connections from "./0011-connections.ts";
import * as assetConsumers from "./0012-asset-consumers.ts";
import * as callbackTrigger from "./0013-callback-trigger.ts";
import * as renderedFields from "./0014-rendered-fields.ts";
import * as backfillPlan from "./0016-backfill-plan.ts";
import * as xcomObjects from "./0017-xcom-objects.ts";
import * as waitsInHistory from "./0019-waits-in-history.ts";
import * as runsToLookAt from "./0022-runs-to-look-at.ts";

export interface Migration {
  readonly name: string;
  up(knex: Knex): Promise<void>;
}

/** In the order in which they are applied. Append only. */
export const MIGRATIONS: readonly Migration[] = [
  core,
  transitionLog,
  assets,
  callbacks,
  runMark,
  waiting,
  timetable,
  backfill,
  jobIdentity,
  connections,
  assetConsumers,
  callbackTrigger,
  renderedFields,
  backfillPlan,
  xcomObjects,
  waitsInHistory,
  runsToLookAt,
];
