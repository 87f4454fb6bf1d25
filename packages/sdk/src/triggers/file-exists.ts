import { name, seconds, type Check } from "../reading/checks.ts";
import { builtIn, POLL_SECONDS } from "./built-in.ts";
import type { Trigger } from "./trigger.ts";

/** Which file to wait for. */
export interface FileExistsOptions {
  /** As the triggerer's machine sees it. May be a pattern with `*`, `?`, `[abc]` and, for any depth, `**`. */
  readonly path: string;
  /** Seconds between two looks. @default 60 */
  readonly pollSeconds?: number;
}

/** The file that was found. */
export interface FileExistsEvent {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** ISO 8601 in UTC. */
  readonly modifiedAt: string;
}

export const FILE_CHECKS: Readonly<Record<keyof FileExistsOptions, Check>> = {
  path: name(4096),
  pollSeconds: seconds("positive"),
};

/** Fires when a file is there. Airflow's `FileTrigger`. */
export function fileExists(options: FileExistsOptions): Trigger<FileExistsEvent> {
  const { path, pollSeconds = POLL_SECONDS } = options;
  return builtIn(
    "file",
    options,
    FILE_CHECKS,
    () => ({ path, pollSeconds }),
    () => (path === undefined ? ["path is missing"] : []),
  );
}
