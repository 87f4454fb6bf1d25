// The whole of Millrace as it runs in production, with a server pair of its own: two schedulers, three workers, two
// triggerers, an API and a dag-processor, each with its own links. Fast times, so that a minute holds many lives.
import { readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawnMillrace, waitUntil } from "@millrace/testkit/rig";
import { DAGS } from "../check/expected.ts";
import { giveBack } from "../monkey/reorder.ts";
import { Member, type MemberKind } from "./member.ts";
import { Servers } from "./servers.ts";
import { SmallDisk } from "./small-disk.ts";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** What the fleet is set to; the checker knows limits and times from here. */
export const TIMES = { heartbeat: 0.5, lease: 2, detection: 0.5, redispatch: 2, sweep: 1.5 } as const;
export const PARALLELISM = 12;
export const ADMIN_PASSWORD = "let me in";

const FAST: Readonly<Record<string, string>> = {
  MILLRACE__SCHEDULER__TASK_INSTANCE_HEARTBEAT_SEC: String(TIMES.heartbeat),
  MILLRACE__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT: String(TIMES.lease),
  MILLRACE__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL: String(TIMES.detection),
  MILLRACE__SCHEDULER__TASK_REDISPATCH_AFTER: String(TIMES.redispatch),
  MILLRACE__SCHEDULER__SWEEP_INTERVAL: String(TIMES.sweep),
  MILLRACE__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME: "0.5",
  MILLRACE__SCHEDULER__SCHEDULER_HEARTBEAT_SEC: "1",
  MILLRACE__SCHEDULER__SCHEDULER_HEALTH_CHECK_THRESHOLD: "5",
  MILLRACE__TRIGGERER__JOB_HEARTBEAT_SEC: "0.5",
  MILLRACE__TRIGGERER__TRIGGERER_HEALTH_CHECK_THRESHOLD: "2",
  MILLRACE__WORKERS__GRACEFUL_TIMEOUT: "1",
  MILLRACE__CORE__KILLED_TASK_CLEANUP_TIME: "1",
};

const MEMBERS: readonly (readonly [name: string, kind: MemberKind])[] = [
  ["scheduler-1", "scheduler"],
  ["scheduler-2", "scheduler"],
  ["worker-1", "worker"],
  ["worker-2", "worker"],
  ["worker-3", "worker"],
  ["triggerer-1", "triggerer"],
  ["triggerer-2", "triggerer"],
  ["api-1", "api"],
  ["dag-processor-1", "dag-processor"],
];

const READY_MS = 120_000;

export interface FleetOptions {
  /** Instead of the fast times. */
  readonly env?: Readonly<Record<string, string>>;
  /** Processes look into `<dir>/crash-point` for the place to stop at. @default false */
  readonly crashPoints?: boolean;
  /** Members that are not needed. */
  readonly without?: readonly string[];
  /**
   * The root of another checkout: as in an upgrade, some members run its program on its schema; then the schema becomes
   * this checkout's, and the others start.
   */
  readonly beside?: string;
}

/** One of each kind of which there are several. */
const BESIDE: readonly string[] = ["scheduler-2", "worker-3", "triggerer-2"];

export class Fleet {
  static readonly #running = new Set<Fleet>();

  /** Before this process ends by a signal. */
  static async stopAll(): Promise<void> {
    const stop = async (fleet: Fleet) => {
      await fleet.stop();
      await fleet.remove();
    };
    await Promise.allSettled([...Fleet.#running].map(stop));
  }

  readonly violations: string[] = [];

  readonly dir: string;
  readonly servers: Servers;
  readonly members: readonly Member[];
  readonly effectsFile: string;
  /** Where task logs go. */
  readonly disk: SmallDisk;

  private constructor(dir: string, servers: Servers, disk: SmallDisk, members: readonly Member[], effectsFile: string) {
    this.dir = dir;
    this.servers = servers;
    this.disk = disk;
    this.members = members;
    this.effectsFile = effectsFile;
  }

  static async start(options: FleetOptions = {}): Promise<Fleet> {
    const dir = await mkdtemp(join(tmpdir(), "millrace-chaos-"));
    const dags = join(dir, "dags");
    await cp(join(ROOT, "tests/chaos/dags"), dags, { recursive: true });
    await symlink(join(ROOT, "node_modules"), join(dir, "node_modules"));
    const begin = new Date(Math.ceil(Date.now() / 1_000) * 1_000).toISOString();
    await writeFile(join(dags, "start.ts"), `export const START = "${begin}";\n`);
    const effectsFile = join(dir, "effects.jsonl");
    await writeFile(effectsFile, "");
    const servers = await Servers.start(dir);
    const disk = await SmallDisk.create(join(dir, "logs"));
    const members: Member[] = [];
    const fleet = new Fleet(dir, servers, disk, members, effectsFile);
    Fleet.#running.add(fleet);
    try {
      const env = {
        MILLRACE__CORE__DAGS_FOLDER: dags,
        MILLRACE__CORE__PARALLELISM: String(PARALLELISM),
        MILLRACE__CORE__DAGS_ARE_PAUSED_AT_CREATION: "false",
        MILLRACE__DATABASE__SQL_ALCHEMY_POOL_SIZE: "6",
        MILLRACE__WORKERS__CONCURRENCY: "4",
        MILLRACE__LOGGING__BASE_LOG_FOLDER: disk.dir,
        // Soon out of memory, when it wants to be.
        MILLRACE__WORKERS__CHILD_HEAP_MB: "128",
        MILLRACE__WORKERS__ARTIFACT_FOLDER: join(dir, "artifacts"),
        MILLRACE__API__PORT: "0",
        MILLRACE__API_AUTH__ADMIN_PASSWORD: ADMIN_PASSWORD,
        MILLRACE__API_AUTH__JWT_SECRET: "a secret that survives the restarts of the API",
        CHAOS_EFFECTS: effectsFile,
        ...(options.crashPoints === true ? { MILLRACE_TEST_CRASH_POINTS: join(dir, "crash-point") } : {}),
        ...(options.env ?? FAST),
      };
      const wanted = MEMBERS.filter(([name]) => options.without?.includes(name) !== true);
      const isBeside = (name: string) => options.beside !== undefined && BESIDE.includes(name);
      const start = async (name: string, kind: MemberKind) => {
        const violation = (what: string) => void fleet.violations.push(what);
        members.push(
          await Member.start({
            name,
            kind,
            args: [kind, "--wait", "30"],
            env,
            cwd: dir,
            servers,
            violation,
            // Written by dags/rude.ts before it does so.
            isMurdered: (pid) => readFileSync(effectsFile, "utf8").includes(`"murders":${pid}}`),
            clockFile: join(dir, `clock-${name}`),
            ...(options.beside !== undefined && isBeside(name) ? { root: options.beside } : {}),
          }),
        );
      };
      if (options.beside !== undefined) {
        await migrate(servers.postgresUrl, dir, options.beside);
        for (const [name, kind] of wanted) if (isBeside(name)) await start(name, kind);
        await Promise.all(members.map((member) => member.ready()));
      }
      await migrate(servers.postgresUrl, dir);
      await servers.query("insert into slot_pool (pool, slots) values ('narrow', 3), ('single', 1)");
      for (const [name, kind] of wanted) if (!isBeside(name)) await start(name, kind);
      await Promise.all(members.map((member) => member.ready()));
      const isRead = async () => {
        const read = new Set(
          (await servers.query<{ id: string }>("select dag_id as id from dag")).map((row) => row.id),
        );
        return Object.keys(DAGS).every((id) => read.has(id));
      };
      await waitUntil(isRead, {
        what: "the DAGs are read",
        timeoutMs: 120_000,
      });
      const errors = await servers.query("select filename, stacktrace from import_error");
      if (errors.length > 0) throw new Error(`the load's DAGs cannot be read: ${JSON.stringify(errors)}`);
      return fleet;
    } catch (error) {
      const said = members.map((member) => `${member.name}: ${member.lines.slice(-3).join(" | ").slice(0, 300)}`);
      await fleet.stop();
      await fleet.remove();
      throw new Error(`the fleet did not come up: ${String(error)}\n${said.join("\n")}`, { cause: error });
    }
  }

  of(kind: MemberKind): readonly Member[] {
    return this.members.filter((member) => member.kind === kind);
  }

  named(name: string): Member {
    const found = this.members.find((member) => member.name === name);
    if (found === undefined) throw new Error(`the fleet has no ${name}`);
    return found;
  }

  /** Every link, every process and both servers as they should be. */
  async heal(): Promise<void> {
    for (const member of this.members) {
      member.thaw();
      await member.setClock(0);
      member.postgresLink.heal();
      member.redisLink.heal();
    }
    await this.disk.empty();
    await this.servers.redisCommand((redis) => redis.config("SET", "maxmemory", "0"));
    await giveBack(this.servers);
    await Promise.all(this.members.map((member) => member.ready()));
    // An upgrade ends: whoever is old still is replaced.
    await Promise.all(this.members.filter(({ isOther }) => isOther).map((member) => member.restart(READY_MS)));
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()));
    await this.servers.stop();
    Fleet.#running.delete(this);
  }

  async keep(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    for (const member of this.members) {
      await writeFile(join(folder, `${member.name}.log`), [...member.logs, ...member.lines].join("\n"));
    }
    await cp(this.effectsFile, join(folder, "effects.jsonl"));
    await cp(join(this.dir, "logs"), join(folder, "task-logs"), { recursive: true }).catch(() => undefined);
    await writeFile(join(folder, "postgres.log"), await this.servers.postgresLog());
  }

  async remove(): Promise<void> {
    await this.disk.remove();
    // A child whose worker was killed a moment ago may write once more.
    await rm(this.dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

async function migrate(url: string, cwd: string, root?: string): Promise<void> {
  const command = spawnMillrace({
    args: ["db", "migrate"],
    ...(root === undefined ? {} : { root }),
    env: { MILLRACE__DATABASE__URL: url, MILLRACE__BROKER__URL: "redis://127.0.0.1:1/0" },
    cwd,
  });
  const { code } = await command.exited;
  if (code !== 0) throw new Error(`the schema could not be made:\n${command.lines.join("\n")}`);
}
