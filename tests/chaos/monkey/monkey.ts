// Carries the plan out. A fault that takes a while runs beside those that follow. What it did, and when, is kept: the
// checker forgives a child that the monkey killed, and times that lie in an outage of Postgres.
import { appendFile, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Fleet } from "../rig/fleet.ts";
import type { Member } from "../rig/member.ts";
import type { Fault, Planned } from "./plan.ts";
import { reorder } from "./reorder.ts";

export interface Done {
  readonly fault: Fault;
  /** Milliseconds since the epoch. */
  readonly from: number;
  to: number;
  note: string;
}

export class Monkey {
  readonly done: Done[] = [];
  readonly #fleet: Fleet;
  readonly #underWay = new Set<Promise<void>>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Resolves when the time is over and every fault has ended. */
  async play(plan: readonly Planned[], durationMs: number): Promise<void> {
    const begin = performance.now();
    for (const planned of plan) {
      await sleep(Math.max(0, planned.atMs - (performance.now() - begin)));
      this.#begin(planned);
    }
    await sleep(Math.max(0, durationMs - (performance.now() - begin)));
    await Promise.all(this.#underWay);
  }

  #begin(fault: Fault): void {
    const entry: Done = { fault, from: Date.now(), to: 0, note: "" };
    this.done.push(entry);
    const running = this.#inflict(fault)
      .then(
        (note) => void (entry.note = note ?? ""),
        // The server that it wanted to hurt was down already.
        (error: unknown) => void (entry.note = `not done: ${String(error)}`),
      )
      .finally(() => {
        entry.to = Date.now();
        this.#underWay.delete(running);
      });
    this.#underWay.add(running);
  }

  async #inflict(fault: Fault): Promise<string | void> {
    const { servers } = this.#fleet;
    switch (fault.kind) {
      case "kill":
      case "terminate": {
        const member = this.#fleet.named(fault.member);
        // Dead it would leave the newer ones to themselves; what else is done to it, it lives through.
        if (member.isOther) return "not done: it is the older one";
        return fault.kind === "kill" ? member.kill() : member.terminate();
      }
      case "freeze": {
        const member = this.#fleet.named(fault.member);
        member.freeze();
        await sleep(fault.ms);
        return member.thaw();
      }
      case "kill-child":
        return await this.#killChild(this.#fleet.named(fault.member), fault.nth);
      case "cut":
      case "swallow":
      case "slow": {
        const member = this.#fleet.named(fault.member);
        const link = fault.link === "postgres" ? member.postgresLink : member.redisLink;
        if (fault.kind === "slow") link.slow(fault.byMs);
        else link[fault.kind]();
        await sleep(fault.ms);
        return link.heal();
      }
      case "trickle": {
        const member = this.#fleet.named(fault.member);
        const link = fault.link === "postgres" ? member.postgresLink : member.redisLink;
        link.trickle(fault.bytesPerSecond);
        await sleep(fault.ms);
        return link.heal();
      }
      case "roll":
        return await this.#alone("roll", () => this.#roll(fault.rounds, fault.ms));
      case "dag-file-changed":
        await appendFile(join(this.#fleet.dir, "dags", "load.ts"), `export const change${fault.nth} = true;\n`);
        return;
      case "dag-edited":
        return await this.#alone("dag file", () => this.#edit(fault.how, fault.ms));
      case "clock": {
        const member = this.#fleet.named(fault.member);
        await member.setClock(fault.byMs);
        // One that stays wrong is set right when everything is healed.
        if (fault.ms === Infinity) return;
        await sleep(fault.ms);
        return await member.setClock(0);
      }
      case "disk-full": {
        if (!(await this.#fleet.disk.fill())) return "not done: mounting is not permitted here";
        await sleep(fault.ms);
        return await this.#fleet.disk.empty();
      }
      case "redis-old-copy":
        return await this.#alone("redis", async () => {
          const copy = await servers.copyRedis();
          await sleep(fault.ms);
          await servers.restartRedis(200, copy);
        });
      case "redis-full":
        return await servers.redisCommand(async (redis) => {
          await redis.config("SET", "maxmemory", "1");
          await sleep(fault.ms);
          await redis.config("SET", "maxmemory", "0");
        });
      case "connections-used-up":
        return await this.#alone("connections", () => this.#useUpConnections(fault.ms));
      case "break-commit":
        await Promise.race([this.#fleet.named(fault.member).postgresLink.breakNextCommit(fault.when), sleep(5_000)]);
        return;
      case "redis-flush":
        await servers.redisCommand((redis) => redis.flushall());
        return;
      case "redis-lose-keys":
        return await servers.redisCommand(async (redis) => {
          const keys = await redis.keys("*");
          const lost = keys.filter((_, i) => (i * 0.618) % 1 < fault.share);
          if (lost.length > 0) await redis.del(...lost);
          return `${lost.length} of ${keys.length} keys`;
        });
      case "redis-reorder":
        return await reorder(servers, fault);
      case "redis-restart":
        return await this.#alone("redis", () => servers.restartRedis(fault.ms));
      case "redis-hang":
        return await this.#alone("redis", async () => {
          const { pid } = servers.redis;
          process.kill(pid, "SIGSTOP");
          await sleep(fault.ms);
          process.kill(pid, "SIGCONT");
        });
      case "postgres-terminate": {
        const one = "order by random() limit 1";
        const rows = await servers.query<{ n: number }>(
          `select count(pg_terminate_backend(pid))::int as n from (
             select pid from pg_stat_activity
             where backend_type = 'client backend' and pid <> pg_backend_pid() and pid % 10 < $1::float8 * 10
             ${fault.share === "one" ? one : ""}) as hit`,
          [fault.share === "one" ? 1 : fault.share],
        );
        return `${rows[0]?.n} sessions`;
      }
      case "statements-cancelled":
        return await this.#cancelStatements(fault.ms);
      case "postgres-restart":
        return await this.#alone("postgres", () => servers.restartPostgres(fault.signal, fault.ms));
      case "foreign-lock":
        return await this.#lock(fault.table, fault.ms);
    }
  }

  /** A file that somebody saves half-written, takes away, or puts another version of in its place. */
  async #edit(how: "broken" | "deleted" | "changed", ms: number): Promise<void> {
    const file = join(this.#fleet.dir, "dags", "edited.ts");
    const text = await readFile(file, "utf8");
    if (how === "changed") {
      const edition = Number(/EDITION: number = (\d+)/.exec(text)?.[1]);
      await writeFile(file, text.replace(/EDITION: number = \d+/, `EDITION: number = ${edition + 1}`));
      return;
    }
    if (how === "deleted") await rename(file, join(this.#fleet.dir, "edited.ts"));
    else await writeFile(file, text.slice(0, text.length / 2));
    await sleep(ms);
    if (how === "deleted") await rename(join(this.#fleet.dir, "edited.ts"), file);
    else await writeFile(file, text);
  }

  /** One thing at a time is done to the server itself. */
  readonly #busy = new Set<string>();
  async #alone(server: string, run: () => Promise<string | void>): Promise<string | void> {
    if (this.#busy.has(server)) return "not done: it is down already";
    this.#busy.add(server);
    try {
      return await run();
    } finally {
      this.#busy.delete(server);
    }
  }

  /** One after the other, each only when the one before is back; as far as the time goes. */
  async #roll(rounds: number, ms: number): Promise<string> {
    const until = performance.now() + ms;
    const took: string[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const member of this.#fleet.members.filter(({ isOther }) => !isOther)) {
        const leftMs = until - performance.now();
        if (leftMs > 0) took.push(await member.restart(leftMs));
      }
    }
    return took.join("; ");
  }

  async #killChild(member: Member, nth: number): Promise<string> {
    const children = await member.children();
    const pid = children[nth % Math.max(1, children.length)];
    if (pid === undefined) return "not done: it has no children";
    // Written first: what is killed and not written would be charged to the task.
    const line = { event: "killed-child", pid, at: Date.now() };
    await appendFile(this.#fleet.effectsFile, `${JSON.stringify(line)}\n`);
    process.kill(pid, "SIGKILL");
    return `child ${pid}`;
  }

  async #useUpConnections(ms: number): Promise<void> {
    const taken: Awaited<ReturnType<Fleet["servers"]["client"]>>[] = [];
    try {
      for (;;) taken.push(await this.#fleet.servers.client());
    } catch {
      await sleep(ms);
    } finally {
      await Promise.all(taken.map((client) => client.end().catch(() => undefined)));
    }
  }

  /** What a statement timeout does, to whatever takes longer than an instant: an error of the same code in the same place. */
  async #cancelStatements(ms: number): Promise<string> {
    const until = performance.now() + ms;
    const client = await this.#fleet.servers.client();
    let cancelled = 0;
    try {
      while (performance.now() < until) {
        const { rows } = await client.query<{ n: number }>(
          `select count(*) filter (where pg_cancel_backend(pid))::int as n from pg_stat_activity
           where application_name like 'millrace%' and state = 'active'`,
        );
        cancelled += rows[0]?.n ?? 0;
        await sleep(10);
      }
    } finally {
      await client.end();
    }
    return `${cancelled} statements`;
  }

  /** Somebody's long transaction: rows of the newest half are locked and then let go. */
  async #lock(table: string, ms: number): Promise<void> {
    const client = await this.#fleet.servers.client();
    try {
      await client.query("begin");
      await client.query(`select from ${table} order by random() limit 20 for update`);
      await sleep(ms);
      await client.query("rollback");
    } finally {
      await client.end();
    }
  }
}
