// What a bundled DAG file offers to the process that loads it, and what that process offers in return.
// The bundle carries its own copy of the SDK, so this is a wire protocol: change it only by adding
// optional fields, and raise PROTOCOL when an old bundle could not go on.
export const PROTOCOL = 1;

export type { ExternalState } from "../spec/index.ts";
export type * from "./protocol/artifact.ts";
export type * from "./protocol/assets.ts";
export type * from "./protocol/callbacks.ts";
export type * from "./protocol/connections.ts";
export type * from "./protocol/host.ts";
export type * from "./protocol/other-runs.ts";
export type * from "./protocol/people.ts";
export type * from "./protocol/run-request.ts";
export type * from "./protocol/task-error.ts";
export type * from "./protocol/task-outcome.ts";
export type * from "./protocol/timetable.ts";
export type * from "./protocol/triggers.ts";
export type * from "./protocol/xcoms.ts";
