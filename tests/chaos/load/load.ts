// The steady load: runs are started through the API, some are cleared or marked while they run, and messages are doubled.
// What was acknowledged is kept for the checker.
import { setTimeout as sleep } from "node:timers/promises";
import { createLogger } from "@millrace/shared/observability";
import { openBroker } from "@millrace/shared/queue";
import { Random } from "../random.ts";
import type { Fleet } from "../rig/fleet.ts";
import { ApiClient } from "./api-client.ts";

/** What a person did to a run, and was told that it was done. */
export interface Operated {
  /** As the audit log calls it. */
  readonly event: string;
  readonly dagId: string;
  readonly runId: string;
}

export interface Acknowledged {
  readonly dagId: string;
  readonly runId: string;
  readonly key: string;
}

const MIX = [
  ...["chaos_chain", "chaos_chain", "chaos_flaky", "chaos_once"],
  ...["chaos_branch", "chaos_wide", "chaos_waits", "chaos_waits"],
  ...["chaos_maps", "chaos_maps", "chaos_makes", "chaos_makes", "chaos_asks", "chaos_edited", "chaos_rude"],
] as const;
/** A machine that is slow gets less, not a backlog that has to be worked off before anything can be checked. */
const MOST_OPEN_RUNS = 16;

export class Load {
  readonly acknowledged: Acknowledged[] = [];
  readonly operated: Operated[] = [];
  readonly refused: string[] = [];
  /** Runs that a person changed: what ends in them may not be the tasks' own doing. */
  readonly touched = new Set<string>();
  readonly deleted = new Set<string>();
  readonly #fleet: Fleet;
  readonly #api: ApiClient;
  readonly #random: Random;
  #stopped = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(fleet: Fleet, seed: number) {
    this.#fleet = fleet;
    this.#api = new ApiClient(fleet);
    this.#random = new Random(seed ^ 0x10ad);
  }

  start(): void {
    this.#work = Promise.all([this.#trigger(), this.#operate(), this.#repeatMessages()]);
  }

  /** Nothing new is begun; requests under way are repeated until they have their answer. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#work;
    await Promise.all(this.#requests);
  }

  async #trigger(): Promise<void> {
    for (let n = 0; !this.#stopped; n++) {
      const dagId = this.#random.pick(MIX);
      this.#under(this.#until2xx(dagId, `load-${n}`));
      await sleep(this.#random.between(150, 700));
      while (!this.#stopped && (await this.#openRuns()) >= MOST_OPEN_RUNS) await sleep(300);
    }
  }

  readonly #requests = new Set<Promise<void>>();
  #under(request: Promise<void>): void {
    const tracked = request.finally(() => this.#requests.delete(tracked));
    this.#requests.add(tracked);
  }

  /** While Postgres is away nobody knows, and what is asked for has to wait by itself. */
  async #openRuns(): Promise<number> {
    const sql = "select count(*)::int as n from dag_run where state in ('queued', 'running')";
    return (await this.#fleet.servers.query<{ n: number }>(sql).catch(() => []))[0]?.n ?? 0;
  }

  async #until2xx(dagId: string, key: string): Promise<void> {
    const giveUp = performance.now() + 60_000;
    while (performance.now() < giveUp) {
      const answer = await this.#api.send("POST", `/api/v2/dags/${dagId}/dagRuns`, {}, { "idempotency-key": key });
      if (answer?.status === 200) {
        // The API's own answer, of its documented shape.
        const { dag_run_id: runId } = answer.body as { dag_run_id: string };
        this.acknowledged.push({ dagId, runId, key });
        return;
      }
      if (answer !== undefined && answer.status >= 400 && answer.status < 500 && answer.status !== 401) {
        // Its file may be away.
        if (dagId !== "chaos_edited") this.refused.push(`${key}: ${answer.status} ${JSON.stringify(answer.body)}`);
        return;
      }
      if (this.#stopped) return;
      await sleep(200);
    }
  }

  async #operate(): Promise<void> {
    while (!this.#stopped) {
      await sleep(this.#random.between(1_500, 3_500));
      const recent = this.acknowledged.slice(-12);
      if (recent.length === 0) continue;
      const { dagId, runId } = this.#random.pick(recent);
      const of = { dagId, runId };
      const run = pathOf(of);
      const choice = this.#random.below(8);
      this.touched.add(`${dagId}/${runId}`);
      if (choice === 7) {
        this.deleted.add(`${dagId}/${runId}`);
        const answer = await this.#api.send("DELETE", run);
        if (answer?.status === 204) this.operated.push({ event: "delete run", ...of });
      } else if (choice === 6) await this.#race(of);
      else if (choice <= 1) await this.#mark(of, this.#random.pick(["success", "failed"]));
      else if (choice <= 3) await this.#api.send("POST", `${run}/clear`, { dry_run: false, only_failed: true });
      else await this.clearOne(of);
    }
  }

  async #mark(of: Omit<Operated, "event">, state: string): Promise<void> {
    const answer = await this.#api.send("PATCH", pathOf(of), { state });
    if (answer?.status === 200) this.operated.push({ event: `mark run ${state}`, ...of });
  }

  /** Two people at once, of whom one clears what the other marks. */
  async #race(of: Omit<Operated, "event">): Promise<void> {
    await Promise.all([
      this.#mark(of, "failed"),
      this.#api.send("POST", `${pathOf(of)}/clear`, { dry_run: false, only_failed: false }),
      this.#mark(of, "success"),
    ]);
  }

  async clearOne(of?: { readonly dagId: string; readonly runId: string }): Promise<void> {
    const { dagId, runId } = of ?? this.#random.pick(this.acknowledged);
    this.touched.add(`${dagId}/${runId}`);
    const body = { dry_run: false, only_failed: false, dag_run_id: runId };
    await this.#api.send("POST", `/api/v2/dags/${dagId}/clearTaskInstances`, body);
  }

  /** Messages that come twice, late, or under an epoch that never was. */
  async #repeatMessages(): Promise<void> {
    while (!this.#stopped) {
      await sleep(this.#random.between(400, 1_200));
      try {
        const rows = await this.#fleet.servers.query<{ id: string; epoch: number; queue: string }>(
          `select id, epoch, queue from task_instance where state in ('queued', 'running', 'success', 'up_for_retry')
           order by updated_at desc limit 5`,
        );
        const broker = openBroker({
          url: this.#fleet.servers.redis.url,
          prefix: "millrace",
          databaseUrl: this.#fleet.servers.postgresUrl,
          log: createLogger({ level: "silent", name: "chaos" }),
        });
        for (const { id, epoch, queue } of rows) {
          const messages = [
            { id, epoch },
            { id, epoch: epoch - 1 },
            { id, epoch: epoch + 1 },
          ];
          await Promise.race([broker.send(queue, messages, { again: true }), sleep(500)]);
        }
        await broker.close();
        // And what is no message at all.
        await this.#fleet.servers.redisCommand(async (redis) => {
          await redis.rpush("millrace:wake", "{no wake", JSON.stringify([{ dagRunId: "x" }, 7]));
          await redis.publish("millrace:signal", "{no signal");
        });
      } catch {
        // A server is away: there is nothing to repeat.
      }
    }
  }
}

const pathOf = ({ dagId, runId }: Omit<Operated, "event">): string =>
  `/api/v2/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}`;
