// The row by which a process is seen: registered at start, alive while its heartbeat is fresh, closed at the end.
import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { Periodic, systemClock, type Clock, type Service } from "../lifecycle/index.ts";
import type { Logger } from "../observability/index.ts";
import type { Database } from "./database.ts";
import { isUnavailable } from "./failures.ts";
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
  /** How long ago the process's queue last answered, in ms; said with each heartbeat. */
  readonly silentMs?: () => number | undefined;
}

const registerJob = defineStatement<
  readonly [
    type: string,
    hostname: string,
    unixname: string,
    queues: readonly string[] | null,
    concurrency: number | null,
    identity: string,
  ],
  { readonly id: number }
>({
  name: "register-job",
  sql: `insert into job (job_type, state, hostname, unixname, queues, concurrency, identity)
values ($1, 'running', $2, $3, $4, $5, $6) returning id`,
});

const beatJob = defineStatement<
  readonly [id: number, identity: string, pollSecondsAgo: number | null],
  { readonly id: number }
>({
  name: "beat-job",
  sql: `
with unsynced as materialized (select set_config('synchronous_commit', 'off', true))
update job set latest_heartbeat = now(), state = 'running', end_date = null,
  last_poll = now() - make_interval(secs => $3::float8)
from unsynced where id = $1 and identity = $2::uuid returning id`,
});

const endJob = defineStatement<readonly [id: number, state: string, identity: string], never>({
  name: "end-job",
  sql: `update job set state = $2, end_date = now(), latest_heartbeat = now() where id = $1 and identity = $3::uuid`,
});

const REGISTER_AGAIN_MS = 500;

export const HOSTNAME = hostname();
export const UNIXNAME = userInfo().username;

export class Job implements Service {
  readonly #options: JobOptions;
  readonly #beats: Periodic;
  readonly #identity = randomUUID();
  #id: number | undefined;
  #isStopped = false;

  constructor(options: JobOptions) {
    this.#options = options;
    this.#beats = new Periodic({
      everyMs: options.heartbeatSeconds * 1000,
      run: () => this.#beat(),
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
    this.#isStopped = false;
    await this.#registerPatiently();
    if (this.#id !== undefined) await this.#beats.start();
  }

  /** Goes on while Postgres is away: a process that was let in does not end because of a moment without a connection. */
  async #registerPatiently(): Promise<void> {
    const { log, clock = systemClock } = this.#options;
    while (!this.#isStopped) {
      try {
        await this.#register();
        return;
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        log.warn({ cause: String(error) }, "the process could not register itself; it is tried again");
        await new Promise<void>((resolve) => clock.after(REGISTER_AGAIN_MS, resolve));
      }
    }
  }

  async #register(): Promise<void> {
    const { db, type, queues, concurrency } = this.#options;
    const identity = this.#identity;
    const [row] = await db.run(registerJob, [type, HOSTNAME, UNIXNAME, queues ?? null, concurrency ?? null, identity]);
    this.#id = row?.id;
  }

  async #beat(): Promise<void> {
    const silentMs = this.#options.silentMs?.();
    const seconds = silentMs === undefined ? null : silentMs / 1000;
    const [row] = await this.#options.db.beat(beatJob, [this.id, this.#identity, seconds]);
    if (row !== undefined) return;
    // The database was restored, or somebody cleaned up: what goes under this id now is not this process.
    this.#options.log.warn({ job: this.id }, "this process's row is gone or another's; it registers anew");
    await this.#register();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#beats.stop();
    if (this.#id === undefined) return;
    await this.#options.db.run(endJob, [this.#id, "success", this.#identity]).catch(() => undefined);
    this.#id = undefined;
  }
}
