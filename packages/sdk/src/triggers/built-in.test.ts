import { expect, test } from "vitest";
import {
  after,
  assetEvent,
  dagRunState,
  fileExists,
  httpPoll,
  redisMessage,
  sqlPoll,
  taskState,
  until,
  type Trigger,
} from "./index.ts";

const DAY = new Date("2026-01-01T00:00:00Z");
const ISO = DAY.toISOString();

test.each<[Trigger<unknown>, string, object]>([
  [until(DAY), "millrace.time", { at: ISO }],
  [after({ minutes: 2 }), "millrace.time", { afterSeconds: 120 }],
  [
    dagRunState({ dagId: "d", logicalDates: [DAY] }),
    "millrace.external_states",
    {
      ...{ dagId: "d", logicalDates: [ISO], allowedStates: ["success"], failedStates: ["failed"], skippedStates: [] },
      ...{ checkExistence: false, pollSeconds: 60 },
    },
  ],
  [
    taskState({ dagId: "d", taskIds: ["t"], runIds: ["r"], failedStates: [], pollSeconds: 5 }),
    "millrace.external_states",
    {
      ...{ dagId: "d", taskIds: ["t"], runIds: ["r"], allowedStates: ["success"], failedStates: [], skippedStates: [] },
      ...{ checkExistence: false, pollSeconds: 5 },
    },
  ],
  [
    httpPoll({ connectionId: "api", path: "/x", status: [200, 404], field: { path: ["a"], equals: null } }),
    "millrace.http",
    {
      ...{ connectionId: "api", path: "/x", method: "GET", headers: {}, status: [200, 404] },
      ...{ field: { path: ["a"], equals: null }, pollSeconds: 60, timeoutSeconds: 30 },
    },
  ],
  [
    sqlPoll({ connectionId: "db", sql: "select $1", params: [1] }),
    "millrace.sql",
    { connectionId: "db", sql: "select $1", params: [1], pollSeconds: 60 },
  ],
  [fileExists({ path: "/a/*", pollSeconds: 1 }), "millrace.file", { path: "/a/*", pollSeconds: 1 }],
  [assetEvent({ uri: "s3://a", after: DAY }), "millrace.asset_event", { uri: "s3://a", after: ISO, pollSeconds: 5 }],
  [
    redisMessage({ connectionId: "r", stream: "s", lastId: "0" }),
    "millrace.redis",
    { connectionId: "r", stream: "s", lastId: "0" },
  ],
])("$1 has the kwargs that the triggerer expects (%#)", (trigger, name, kwargs) => {
  expect(trigger.problem).toBeUndefined();
  expect(trigger.spec).toEqual({ name, kwargs });
});

test.each<[Trigger<unknown>, string]>([
  [after(Number.NaN), "afterSeconds must be a number of seconds, zero or more, got NaN"],
  [dagRunState({ dagId: "d" }), "give exactly one of logicalDates and runIds"],
  [taskState({ dagId: "d", runIds: ["r"] }), "give exactly one of taskIds and taskGroupId"],
  [httpPoll({}), "give exactly one of url and connectionId"],
  [httpPoll({ url: "ftp://x" }), 'url must be an http or https URL, got "ftp://x"'],
  [httpPoll({ url: "http://x", path: "/a" }), "path needs a connectionId; a url has its own"],
  [httpPoll({ url: "http://x", status: [99] }), "status must be an array of status codes, got an array"],
  [
    sqlPoll({ connectionId: "db", sql: "select 1", pollSeconds: 0 }),
    "pollSeconds must be a number of seconds, positive, got 0",
  ],
  [fileExists({ path: "" }), 'path must be a string of 1 to 4096 characters, got ""'],
  [assetEvent({}), "give a name, a uri, or both"],
  [redisMessage({ connectionId: "r", channel: "c", stream: "s" }), "give exactly one of channel and stream"],
  [redisMessage({ connectionId: "r", channel: "c", lastId: "0" }), "lastId needs a stream"],
  [httpPoll({ url: "http://x", body: { at: DAY } as never }), 'kwarg "body" cannot be stored: $.at is a Date'],
])("what is wrong with a trigger names it (%#)", (trigger, problem) => {
  expect(trigger.problem).toContain(`trigger "${trigger.spec.name}": `);
  expect(trigger.problem).toContain(problem);
});
