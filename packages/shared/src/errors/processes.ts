// What keeps a process from starting, or from what it needs.
import { defineErrors } from "./define-errors.ts";

export const PROCESSES = defineErrors({
  CONFIG_INVALID: {
    message: "The configuration has {count} problem(s):\n{problems}",
    httpStatus: 500,
    exitCode: 2,
    retryable: false,
  },
  DATABASE_UNREACHABLE: {
    message: "Cannot reach Postgres at {target}: {cause}. Is it running, and is MILLRACE__DATABASE__URL right?",
    httpStatus: 503,
    exitCode: 3,
    retryable: true,
  },
  DATABASE_NOT_MIGRATED: {
    message: "The database at {target} has schema {found}, this program needs {needed}. Run `millrace db migrate`.",
    httpStatus: 503,
    exitCode: 3,
    retryable: false,
  },
  DATABASE_TOO_NEW: {
    message:
      "The database at {target} was migrated by a newer Millrace (unknown migration {found}). Upgrade this process before starting it.",
    httpStatus: 503,
    exitCode: 3,
    retryable: false,
  },
  BROKER_UNREACHABLE: {
    message: "Cannot reach the broker at {target}: {cause}. Is Redis running, and is MILLRACE__BROKER__URL right?",
    httpStatus: 503,
    exitCode: 3,
    retryable: true,
  },
  BROKER_EVICTS: {
    message:
      "Redis at {target} has maxmemory-policy {policy} and may throw queued work away. Set it to noeviction: `redis-cli config set maxmemory-policy noeviction`.",
    httpStatus: 503,
    exitCode: 3,
    retryable: false,
  },
  STANDALONE_RUNNING: {
    message: "A standalone is running on {dir} already (process {pid}). Stop it, or use another folder with --data.",
    httpStatus: 500,
    exitCode: 1,
    retryable: false,
  },
  STANDALONE_FOLDER_UNUSABLE: {
    message: "{dir} cannot be used for data: {cause}. Choose a folder that you can write to with --data.",
    httpStatus: 500,
    exitCode: 1,
    retryable: false,
  },
  STANDALONE_POSTGRES_FAILED: {
    message: "The embedded Postgres did not start: {cause}",
    httpStatus: 500,
    exitCode: 3,
    retryable: false,
  },
  STANDALONE_PORT_IN_USE: {
    message: "Something listens on {target} already. Choose another port with --port, or --port 0 for a free one.",
    httpStatus: 500,
    exitCode: 1,
    retryable: false,
  },
  API_CANNOT_LISTEN: {
    message: "Cannot listen on {target}: {cause}. Choose another with MILLRACE__API__HOST and MILLRACE__API__PORT.",
    httpStatus: 500,
    exitCode: 3,
    retryable: false,
  },
});
