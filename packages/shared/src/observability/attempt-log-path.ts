// Where the log of one attempt lies. The worker writes there and the API reads there, so the path is made in one place.
import { createHash } from "node:crypto";
import { join } from "node:path";

export interface AttemptLogKey {
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  /** -1: not mapped. */
  readonly mapIndex: number;
  readonly tryNumber: number;
}

const MAX_SEGMENT = 200;

// encodeURIComponent leaves a leading dot alone, and file systems end at 255 bytes a name: what is longer keeps its
// beginning for people and a digest that makes it its own.
export function segment(value: string): string {
  const encoded = encodeURIComponent(value).replace(/^\./, "%2E");
  if (encoded.length <= MAX_SEGMENT) return encoded;
  return `${encoded.slice(0, MAX_SEGMENT - 33)}~${createHash("sha256").update(value).digest("hex").slice(0, 32)}`;
}

/**
 * `<base>/dag_id=…/run_id=…/task_id=…/[map_index=…/]attempt=….log`: no value of the key leaves `base`.
 * @throws RangeError when an index is not an integer
 */
export function attemptLogPath(base: string, key: AttemptLogKey): string {
  if (!Number.isInteger(key.mapIndex) || !Number.isInteger(key.tryNumber)) {
    throw new RangeError(`Map index and try are integers, not ${key.mapIndex} and ${key.tryNumber}`);
  }
  return join(
    base,
    `dag_id=${segment(key.dagId)}`,
    `run_id=${segment(key.runId)}`,
    `task_id=${segment(key.taskId)}`,
    ...(key.mapIndex < 0 ? [] : [`map_index=${key.mapIndex}`]),
    `attempt=${key.tryNumber}.log`,
  );
}
