import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import type { Config } from "@millrace/shared/config";
import type { Database, DagVersions, RunTriggers } from "@millrace/shared/db";
import type { Clock } from "@millrace/shared/lifecycle";
import type { Logger } from "@millrace/shared/observability";
import type { Announcing } from "@millrace/shared/queue";
import type { KnownSecrets, Secrets } from "@millrace/shared/secrets";
import type { XComs } from "@millrace/shared/xcoms";

/** Fastify whose handlers have the types of their schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** What routes work with. */
export interface Context {
  readonly db: Database;
  readonly broker: Announcing;
  readonly config: Config;
  readonly log: Logger;
  readonly clock: Clock;
  readonly versions: DagVersions;
  readonly triggers: RunTriggers;
  readonly secrets: Secrets;
  /** What must not be shown. */
  readonly known: KnownSecrets;
  readonly xcoms: XComs;
}
