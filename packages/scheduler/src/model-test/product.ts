// The other side of the lockstep: the production actors and statements on a real database, many histories at a time, each
// with a DAG of its own. One pass is what a scheduler does in its transaction; workers and users are played here.
import { loadConfig, type Config } from "@millrace/shared/config";
import {
  createRuns,
  Database,
  DagVersions,
  lockRuns,
  newId,
  runsWithDueTasks,
  type ClaimedAttempt,
} from "@millrace/shared/db";
import { buildDagGraph } from "@millrace/shared/model";
import { createLogger } from "@millrace/shared/observability";
import type { DagSpec } from "@millrace/sdk/spec";
import { queueScheduledTasks } from "../critical-section/queue-scheduled-tasks.ts";
import type { ActorDeps } from "../deps.ts";
import { decideExamined, writeExamined } from "../runs/examine-runs.ts";
import { startQueuedRuns } from "../runs/start-queued-runs.ts";

export const quiet = createLogger({ level: "silent", name: "test" });

export const openDatabase = (url: string, maxConnections = 5): Database =>
  new Database({ url, applicationName: "model", maxConnections, maxRetries: 5, log: quiet });

const defaults = loadConfig({ env: {} });
const config: Config = {
  ...defaults,
  core: { ...defaults.core, parallelism: 1_000_000 },
  scheduler: {
    ...defaults.scheduler,
    max_tis_per_query: 100_000,
    max_dagruns_per_loop_to_schedule: 100_000,
    // Nobody is judged before the server has been up for this long; heartbeats are made old or new by hand.
    task_instance_heartbeat_timeout: 0.001,
  },
};

/** Tasks by run that an actor is told of; null for the whole run. */
export type Named = Map<number, Set<string> | null>;

export interface Row {
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly id: string;
  readonly epoch: number;
  readonly state: string;
  readonly tries: number;
  readonly lostWorkers: number;
}

export const keyOf = (of: { dagId: string; runId: string; taskId: string }): string =>
  `${of.dagId} ${of.runId} ${of.taskId}`;

export class Product {
  readonly db: Database;
  readonly versions: DagVersions;
  /** As last read. */
  readonly rows = new Map<string, Row>();
  readonly runStates = new Map<string, string>();
  /** Database ids of the runs of each DAG. */
  readonly runs = new Map<string, Map<string, number>>();
  /** What was sent to workers, by attempt: epochs. */
  readonly messages = new Map<string, number[]>();
  /** What workers got, by task instance, the newest last. */
  readonly claims = new Map<string, ClaimedAttempt[]>();

  constructor(db: Database) {
    this.db = db;
    this.versions = new DagVersions(db);
  }

  async seed(dags: readonly { readonly spec: DagSpec; readonly runIds: readonly string[] }[]): Promise<void> {
    const versionIds = dags.map(() => newId());
    const ids = dags.map(({ spec }) => spec.dagId);
    await this.db.read(
      `insert into dag (dag_id, is_paused, bundle_name, max_active_tasks, max_active_runs)
       select d.id, false, 'dags-folder', 1000, d.runs from unnest($1::text[], $2::int[]) as d(id, runs)`,
      [ids, dags.map(({ spec }) => spec.maxActiveRuns ?? 16)],
    );
    await this.db.read(`update slot_pool set slots = -1`);
    await this.db.read(`insert into dag_artifact (hash, code, source_map) values ('hash', '', '{}')`);
    await this.db.read(
      `insert into dag_version (id, dag_id, artifact_hash)
       select v.id, v.dag_id, 'hash' from unnest($1::uuid[], $2::text[]) as v(id, dag_id)`,
      [versionIds, ids],
    );
    await this.db.read(
      `insert into serialized_dag (id, dag_id, data, dag_hash, dag_version_id)
       select gen_random_uuid(), s.dag_id, s.data::jsonb, 'hash', s.version
       from unnest($1::text[], $2::text[], $3::uuid[]) as s(dag_id, data, version)`,
      [ids, dags.map(({ spec }) => JSON.stringify(spec)), versionIds],
    );
    const created = await createRuns(
      this.db,
      dags.flatMap(({ spec, runIds }, i) =>
        runIds.map((runId, day) => ({
          graph: buildDagGraph(spec),
          versionId: versionIds[i] ?? "",
          runId,
          runType: "manual" as const,
          logicalDate: Date.UTC(2026, 0, 1 + day),
          interval: null,
          runAfter: Date.UTC(2026, 0, 1 + day),
          conf: {},
          triggeredBy: "test" as const,
          user: null,
        })),
      ),
    );
    for (const run of created) {
      const ofDag = this.runs.get(run.dagId) ?? new Map<string, number>();
      this.runs.set(run.dagId, ofDag.set(run.runId, run.id));
    }
    await this.read();
  }

  async transact<T>(actor: (deps: ActorDeps) => Promise<T>): Promise<T> {
    return await this.db.transaction(
      async (tx) => await actor({ tx, versions: this.versions, config, log: quiet }),
      { actor: "scheduler" },
    );
  }

  /**
   * Passes of the scheduler until one has nothing to do.
   * @param named what wakes name, for histories whose wakes arrive
   * @param swept DAGs whose wakes are lost: their runs are examined whole
   */
  async settle(named: Named, swept: ReadonlySet<string>): Promise<void> {
    const sweptRuns = [...swept].flatMap((dagId) => [...(this.runs.get(dagId)?.values() ?? [])]);
    for (const run of sweptRuns) named.delete(run);
    for (const due of await this.db.run(runsWithDueTasks, [1_000_000])) {
      if (!sweptRuns.includes(due.dagRunId)) name(named, due.dagRunId, [due.taskId]);
    }
    for (let quietPasses = 0; quietPasses < (swept.size > 0 ? 2 : 1); ) {
      const isQuiet = await this.#pass(named, sweptRuns);
      quietPasses = isQuiet ? quietPasses + 1 : 0;
    }
  }

  async #pass(named: Named, sweptRuns: readonly number[]): Promise<boolean> {
    const { started, examined, queueing } = await this.transact(async (deps) => {
      const startedNow = await startQueuedRuns(deps);
      const ids = [...named.keys(), ...sweptRuns].sort((a, b) => a - b);
      const locked = await deps.tx.run(lockRuns, [ids, 1]);
      const decided = await decideExamined(
        deps,
        locked.map((run) => {
          const changed = named.get(run.id) ?? null;
          return { run, changed: changed === null ? null : [...changed] };
        }),
      );
      const [examinedNow, queueing] = await Promise.all([writeExamined(deps, decided), queueScheduledTasks(deps, 1)]);
      return { started: startedNow, examined: examinedNow, queueing };
    });
    const queued = await queueing.attempts;
    for (const { id, epoch } of queued) this.messages.set(id, [...(this.messages.get(id) ?? []), epoch]);
    named.clear();
    for (const id of examined.next) if (!sweptRuns.includes(id)) named.set(id, null);
    const done = started.started + started.finished.length + examined.scheduled + examined.finished.length;
    return done + examined.stopped.length + queued.length + named.size === 0;
  }

  async read(): Promise<void> {
    const rows = await this.db.read<Row>(
      `select dag_id as "dagId", run_id as "runId", task_id as "taskId", id, epoch, coalesce(state, 'none') as state,
         try_number as tries, infra_failures as "lostWorkers"
       from task_instance`,
    );
    for (const row of rows) this.rows.set(keyOf(row), row);
    const runs = await this.db.read<{ dagId: string; runId: string; state: string }>(
      `select dag_id as "dagId", run_id as "runId", state from dag_run`,
    );
    for (const run of runs) this.runStates.set(`${run.dagId} ${run.runId}`, run.state);
  }
}

export function name(named: Named, dagRunId: number, taskIds: readonly string[] | null): void {
  const known = named.get(dagRunId);
  if (taskIds === null || known === null) named.set(dagRunId, null);
  else if (known === undefined) named.set(dagRunId, new Set(taskIds));
  else for (const id of taskIds) known.add(id);
}
