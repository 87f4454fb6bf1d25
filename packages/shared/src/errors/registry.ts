// Every error that a person can meet, by room: one stable code, what it means to a program (HTTP status, exit code,
// whether trying again can help), and the sentence. docs/reference/errors.md lists the same, kept equal by a test.
import { ASSETS } from "./assets.ts";
import { BACKFILLS } from "./backfills.ts";
import { DAGS } from "./dags.ts";
import { DATA } from "./data.ts";
import { PROCESSES } from "./processes.ts";
import { REQUESTS } from "./requests.ts";
import { RUNS } from "./runs.ts";

export const ERRORS = {
  ...PROCESSES,
  ...DAGS,
  ...RUNS,
  ...ASSETS,
  ...DATA,
  ...BACKFILLS,
  ...REQUESTS,
};

export type ErrorCode = keyof typeof ERRORS;
