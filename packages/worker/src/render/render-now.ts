// The template fields of a task instance as they would be if it ran now, for people to look at. A child process renders them,
// as it would for an attempt: what a DAG file says is not run in the process that asks. Nothing is changed by it.
import type { RenderOutcome } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import type { Config } from "@millrace/shared/config";
import { ArtifactStore, DagVersions, readAttemptOf, type Database, type TaskInstanceKey } from "@millrace/shared/db";
import { AppError } from "@millrace/shared/errors";
import type { Secrets } from "@millrace/shared/secrets";
import { XComs } from "@millrace/shared/xcoms";
import { answerCall } from "../run/answer-call.ts";
import { ChildPool } from "../run/child-pool.ts";
import type { Call } from "../run/ipc.ts";
import { Inputs } from "../run/read-inputs.ts";
import { requestOf } from "../run/run-request.ts";
import type { ChildResult } from "../run/warm-child.ts";

export interface RenderDeps {
  readonly db: Database;
  readonly config: Config;
  readonly secrets: Secrets;
  /** What the DAG file writes while it is rendered. */
  readonly onLine?: (line: string) => void;
}

/** Templates are bounded; a function of the file that gives an option may not end. */
const MAX_MS = 60_000;

const READS: ReadonlySet<Call["method"]> = new Set<Call["method"]>([
  "getXCom",
  "getMappedXComs",
  "getVariable",
  "getConnection",
  "getPreviousSuccess",
  "getRunState",
  "getExternalStates",
  "getAssetEvents",
  "getAssetState",
]);

/**
 * The fields, masked.
 *
 * @throws AppError TASK_NOT_FOUND, RENDER_FAILED
 */
export async function renderNow(deps: RenderDeps, key: TaskInstanceKey): Promise<Readonly<Record<string, Json>>> {
  const { db, secrets } = deps;
  const { dagId, runId, taskId, mapIndex = -1 } = key;
  const [attempt] = await db.run(readAttemptOf, [dagId, runId, taskId, mapIndex]);
  const versions = new DagVersions(db);
  const xcoms = new XComs(db, deps.config);
  const graph = attempt === undefined ? undefined : (await versions.load([attempt.versionId])).get(attempt.versionId);
  const node = graph?.tasks.get(taskId);
  if (attempt === undefined || graph === undefined || node === undefined) {
    throw new AppError("TASK_NOT_FOUND", { dagId, taskId, where: ` in run ${runId}` });
  }
  const failed = (reason: string) =>
    new AppError("RENDER_FAILED", { dagId, taskId, runId, reason: secrets.redactor.redact(reason) });
  // The next try, where none has begun.
  const next = { ...attempt, tryNumber: Math.max(attempt.tryNumber, 1) };
  const request = await requestOf({ ...deps, inputs: new Inputs(db, xcoms) }, next, node, graph).catch(
    (error: unknown) => {
      throw failed(error instanceof Error ? error.message : String(error));
    },
  );
  const { waited: _waited, ...whole } = request;
  const answer = async (call: Call) => {
    if (!READS.has(call.method)) throw new Error(`${call.method} is refused: rendering changes nothing`);
    return await answerCall({ ...deps, versions, xcoms }, next, call);
  };
  const result = await inChild(deps, async (child) => {
    const path = await new ArtifactStore(db, deps.config.workers.artifact_folder).path(attempt.artifactHash);
    return await child.render(path, whole, {
      onLog: ({ message }) => deps.onLine?.(message),
      onMask: (secret) => secrets.redactor.add(secret),
      onCall: answer,
    });
  });
  if (result.kind === "died") throw failed(`the process that renders it ${result.how}`);
  if (result.outcome.kind === "failed") {
    const { name, message } = result.outcome.error;
    throw failed(`${name}: ${message}`);
  }
  const entries = Object.entries(result.outcome.fields);
  return Object.fromEntries(entries.map(([name, value]) => [name, secrets.redactor.redactValue(value, name)]));
}

/** One child of its own, which is gone afterwards. */
async function inChild(
  { config }: RenderDeps,
  use: (child: Awaited<ReturnType<ChildPool["acquire"]>>) => Promise<ChildResult<RenderOutcome>>,
): Promise<ChildResult<RenderOutcome>> {
  const pool = new ChildPool({ config: { ...config, workers: { ...config.workers, concurrency: 1 } } });
  await pool.start();
  let timer: NodeJS.Timeout | undefined;
  try {
    const child = await pool.acquire();
    timer = setTimeout(() => void child.kill(), MAX_MS);
    return await use(child);
  } finally {
    clearTimeout(timer);
    await pool.stop();
  }
}
