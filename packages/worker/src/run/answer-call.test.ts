import { loadConfig } from "@millrace/shared/config";
import { Database, DagVersions } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import type { Broker } from "@millrace/shared/queue";
import { Secrets } from "@millrace/shared/secrets";
import { XComs } from "@millrace/shared/xcoms";
import { testDatabase } from "@millrace/testkit";
import { afterAll, expect, test } from "vitest";
import { answerCall } from "./answer-call.ts";

const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 2, maxRetries: 3, log });
afterAll(() => db.close());

// Nothing here is announced to anybody.
const config = loadConfig({ env: {}, cwd: "/nonexistent" });
const secrets = new Secrets({ db, config, log });
const deps = { db, versions: new DagVersions(db), broker: {} as Broker, secrets, xcoms: new XComs(db, config), config };

test("a task that waits for another DAG is told that it does not exist only when it asks", async () => {
  const params = { dagId: "nowhere", taskIds: ["a"], logicalDates: ["2026-01-01T00:00:00.000Z"] };
  expect(await answerCall(deps, undefined, { method: "getExternalStates", params })).toEqual([]);
  const asking = answerCall(deps, undefined, {
    method: "getExternalStates",
    params: { ...params, checkExistence: true },
  });
  await expect(asking).rejects.toThrow("there is no DAG nowhere");
});
