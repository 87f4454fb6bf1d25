// Waits for a run to end: a line of JSON for each look, the last one with the results of tasks. Airflow's `wait`.
import { Readable } from "node:stream";
import { getRun, readDagResults, type RunRow } from "@millrace/shared/db";
import type { Json } from "@millrace/sdk/spec";
import { Type } from "typebox";
import type { App, Context } from "../http/app.ts";
import { RunPath, Texts } from "../schemas/common.ts";

/** However often somebody wants to be told, the database is not asked more often. */
const SHORTEST_MS = 200;

export function waitRoutes(app: App, { db, clock, known, xcoms }: Context): void {
  const closing = new AbortController();
  app.addHook("preClose", async () => closing.abort());
  const pause = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const timer = clock.after(ms, resolve);
      const end = () => {
        timer.cancel();
        resolve();
      };
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { once: true });
    });

  /** By task: its value, or those of its instances in a list. */
  const resultsOf = async (run: RunRow, taskIds: readonly string[] | undefined) => {
    const redactor = await known.redactor();
    const rows = await db.run(readDagResults, [run.id, taskIds ?? null]);
    const values = await xcoms.resolveAll(rows.map((row) => row.value));
    const results: Record<string, Json> = {};
    for (const [at, { taskId, mapIndex }] of rows.entries()) {
      const value = redactor.redactValue(values[at] ?? null, taskId);
      const before = results[taskId];
      results[taskId] = mapIndex < 0 ? value : [...(Array.isArray(before) ? (before as readonly Json[]) : []), value];
    }
    return results;
  };

  const WaitQuery = Type.Object({ interval: Type.Number({ exclusiveMinimum: 0, maximum: 3_600 }), result: Texts });
  app.get(
    "/api/v2/dags/:dag_id/dagRuns/:dag_run_id/wait",
    { exposeHeadRoute: false, schema: { params: RunPath, querystring: WaitQuery } },
    async ({ params, query }, reply) => {
      const look = () => getRun(db, params.dag_id, params.dag_run_id);
      const first = await look();
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      const ended = AbortSignal.any([gone.signal, closing.signal]);
      async function* lines() {
        for (let run = first; ; run = await look()) {
          const isOver = run.state === "success" || run.state === "failed";
          const results = isOver ? await resultsOf(run, query.result) : {};
          yield `${JSON.stringify({ state: run.state, ...(Object.keys(results).length === 0 ? {} : { results }) })}\n`;
          if (isOver || ended.aborted) return;
          await pause(Math.max(SHORTEST_MS, query.interval * 1000), ended);
          if (ended.aborted) return;
        }
      }
      return await reply.type("application/x-ndjson").send(Readable.from(lines()));
    },
  );
}
