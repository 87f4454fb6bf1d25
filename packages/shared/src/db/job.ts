// The row by which a process is seen: registered at start, alive while its heartbeat is fresh, closed at the end.
import { hostname, userInfo } from "node:os";
import { Periodic, type Clock, type Service } from "../lifecycle/index.ts";
import type { Logger } from "../observability/index.ts";
import type { Database } from "./database.ts";
import { defineStatement } from "./statement.ts";

export type JobType = "SchedulerJob" | "TriggererJob" | "DagProcessorJob" | "WorkerJob";

export interface JobOptions {
  readonly db: Database;
  readonly type: JobType;
  readonly heartbeatSeconds: number;
  readonly log: Logger;
  readonly queues?: readonly string[];
  readonly concurrency?: number;
  readonly clock?: Clock;
}

const registerJob = defineStatement<
  readonly [
    type: string,
    hostname: string,
    unixname: string,
    queues: readonly string[] | null,
    concurrency: number | null,
  ],
  { readonly id: number }
>({
  name: "register-job",
  sql: `insert into job (job_type, state, hostname, unixname, queues, concurrency)
values ($1, 'running', $2, $3, $4, $5) returning id`,
});

const beatJob = defineStatement<readonly [id: number], { readonly id: number }>({
  name: "beat-job",
  sql: `
with unsynced as materialized (select set_config('synchronous_commit', 'off', true))
update job set latest_heartbeat = now(), state = 'running', end_date = null from unsynced where id = $1 returning id`,
});

const endJob = defineStatement<readonly [id: number, state: string], never>({
  name: "end-job",
  sql: `update job set state = $2, end_date = now(), latest_heartbeat = now() where id = $1`,
});

export const HOSTNAME = hostname();
export const UNIXNAME = userInfo().username;

export class Job implements Service {
  readonly #options: JobOptions;
  readonly #beats: Periodic;
  #id: number | undefined;

  constructor(options: JobOptions) {
    this.#options = options;
    this.#beats = new Periodic({
      everyMs: options.heartbeatSeconds * 1000,
      run: async () => {
        await options.db.beat(beatJob, [this.id]);
      },
      onError: (error) => options.log.warn({ cause: String(error) }, "the process's heartbeat could not be written"),
      ...(options.clock === undefined ? {} : { clock: options.clock }),
    });
  }

  /** job.id. */
  get id(): number {
    if (this.#id === undefined) throw new Error("The job is not registered yet");
    return this.#id;
  }

  async start(): Promise<void> {
    if (this.#id !== undefined) return;
    const { db, type, queues, concurrency } = this.#options;
    const [row] = await db.run(registerJob, [type, HOSTNAME, UNIXNAME, queues ?? null, concurrency ?? null]);
    this.#id = row?.id;
    await this.#beats.start();
  }

  async stop(): Promise<void> {
    await this.#beats.stop();
    if (this.#id === undefined) return;
    await this.#options.db.run(endJob, [this.#id, "success"]).catch(() => undefined);
    this.#id = undefined;
  }
}
