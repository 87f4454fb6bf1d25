// The API process: HTTP over what Postgres says. It decides nothing about runs and tasks; a change goes through the same
// functions as the command line's.
import cookie from "@fastify/cookie";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { DagVersions, RunTriggers, type Database } from "@millrace/shared/db";
import { AppError, messageOf } from "@millrace/shared/errors";
import { systemClock, type Clock, type Service } from "@millrace/shared/lifecycle";
import type { Config } from "@millrace/shared/config";
import type { Logger } from "@millrace/shared/observability";
import type { Announcing } from "@millrace/shared/queue";
import { KnownSecrets, Secrets } from "@millrace/shared/secrets";
import { XComs } from "@millrace/shared/xcoms";
import { prepareUi } from "@millrace/ui/build";
import fastify, { type InjectOptions, type LightMyRequestResponse } from "fastify";
import { guard } from "./auth/guard.ts";
import { Tokens } from "./auth/tokens.ts";
import type { App, Context } from "./http/app.ts";
import { handleErrors } from "./http/errors.ts";
import { secure } from "./http/security-headers.ts";
import { compileValidator } from "./http/validation.ts";
import { assetRoutes } from "./routes/assets.ts";
import { assetStateRoutes } from "./routes/asset-states.ts";
import { waitRoutes } from "./routes/wait.ts";
import { authRoutes } from "./routes/auth.ts";
import { backfillRoutes } from "./routes/backfills.ts";
import { dagRoutes } from "./routes/dags.ts";
import { previewRoutes } from "./routes/preview.ts";
import { callbackRoutes } from "./routes/callbacks.ts";
import { clearRoutes } from "./routes/clear.ts";
import { connectionRoutes } from "./routes/connections.ts";
import { eventRoutes } from "./routes/events.ts";
import { maskAnswers } from "./http/mask-answers.ts";
import { explainRoutes } from "./routes/explain.ts";
import { logRoutes } from "./routes/logs.ts";
import { markRoutes } from "./routes/mark.ts";
import { monitorRoutes } from "./routes/monitor.ts";
import { operationRoutes } from "./routes/operations.ts";
import { pageRoutes } from "./routes/pages.ts";
import { questionRoutes } from "./routes/questions.ts";
import { runRoutes } from "./routes/runs.ts";
import { taskInstanceRoutes } from "./routes/task-instances.ts";
import { variableRoutes } from "./routes/variables.ts";
import { xcomRoutes } from "./routes/xcoms.ts";

export interface ApiOptions {
  readonly db: Database;
  /** Told of changes; nothing is taken from it. */
  readonly broker: Announcing;
  readonly config: Config;
  readonly log: Logger;
  readonly clock?: Clock;
}

export interface ApiRoute {
  readonly method: string;
  readonly url: string;
  readonly public: boolean;
}

export interface Api extends Service {
  /** Where it listens, once started. */
  readonly url: string;
  /** Every route there is, known once ready. */
  readonly routes: readonly ApiRoute[];
  /** Answers a request without a socket. */
  inject(request: InjectOptions | string): Promise<LightMyRequestResponse>;
}

const MAX_BODY_BYTES = 1024 * 1024;
const REQUEST_TIMEOUT_MS = 30_000;

export function createApi(options: ApiOptions): Api {
  const { config, log, db } = options;
  const secrets = new Secrets({ db, config, log });
  const versions = new DagVersions(db, undefined, config.core.max_map_length);
  const context: Context = {
    ...options,
    clock: options.clock ?? systemClock,
    versions,
    triggers: new RunTriggers(db, versions),
    secrets,
    known: new KnownSecrets(secrets, log),
    xcoms: new XComs(db, config),
  };
  const tokens = new Tokens(config.api_auth);
  const routes: ApiRoute[] = [];

  const app: App = fastify({
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: 1_600 },
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.setValidatorCompiler(compileValidator);
  // The schemas of answers are the contract for readers and the compiler; presenters already build exactly them.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  app.addHook("onRoute", ({ method, url, config: routeConfig }) => {
    for (const each of [method].flat()) routes.push({ method: each, url, public: routeConfig?.public === true });
  });
  secure(app);
  handleErrors(app, log);
  void app.register(cookie);
  void app.register((scope: App, _options, done) => {
    refuseZeroBytes(scope);
    maskAnswers(scope, context.known);
    guard(scope, tokens);
    monitorRoutes(scope, context);
    authRoutes(scope, context, tokens);
    for (const add of [
      dagRoutes,
      previewRoutes,
      runRoutes,
      taskInstanceRoutes,
      logRoutes,
      xcomRoutes,
      variableRoutes,
      connectionRoutes,
      operationRoutes,
      eventRoutes,
      explainRoutes,
      clearRoutes,
      markRoutes,
      questionRoutes,
      backfillRoutes,
      assetRoutes,
      assetStateRoutes,
      waitRoutes,
      callbackRoutes,
    ]) {
      add(scope, context);
    }
    done();
  });
  pageRoutes(app);

  let url = "";
  return {
    get url() {
      return url;
    },
    routes,
    inject: async (request) => await app.inject(request),
    start: async () => {
      if (url !== "") return;
      await prepareUi();
      const { host, port } = config.api;
      try {
        url = await app.listen({ host, port });
      } catch (error) {
        throw new AppError(
          "API_CANNOT_LISTEN",
          { target: `${host}:${port}`, cause: messageOf(error) },
          { cause: error },
        );
      }
      log.info({ address: url }, "the API listens");
    },
    stop: async () => {
      await app.close();
      url = "";
    },
  };
}

/** Postgres stores no zero byte, so nothing can have such a name. */
function refuseZeroBytes(app: App): void {
  app.addHook("onRequest", async (request) => {
    if (/%00/.test(request.url)) throw new AppError("REQUEST_INVALID", { cause: "the address holds a zero byte" });
  });
}
