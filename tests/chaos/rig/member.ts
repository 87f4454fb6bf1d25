// One process of the fleet with its own links, and the supervisor that every deployment has: what ends is started again.
// An end that nobody caused is written down, and so is whatever a killed process leaves behind.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { spawnMillrace, waitUntil, type MillraceProcess } from "@millrace/testkit/rig";
import { openLink, type Link } from "./link.ts";
import type { Servers } from "./servers.ts";

export type MemberKind = "scheduler" | "worker" | "triggerer" | "api" | "dag-processor";

export interface MemberPlan {
  readonly name: string;
  readonly kind: MemberKind;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly servers: Servers;
  /** Told of what must not happen. */
  readonly violation: (what: string) => void;
  /** Whether one of its own tasks killed this process. */
  readonly isMurdered: (pid: number) => boolean;
  /** Holds by how many milliseconds its clock is wrong. */
  readonly clockFile: string;
  /** Another checkout whose program it runs, until the schema is too new for that. */
  readonly root?: string;
}

const SKEWED_CLOCK = new URL("skewed-clock.mjs", import.meta.url).href;
const TOO_NEW = /was migrated by a newer Millrace/;
const RESTART_AFTER_MS = 100;
/** What it started notices its end at once, when the machine lets it. */
const ORPHAN_GRACE_MS = 20_000;

export class Member {
  readonly name: string;
  readonly kind: MemberKind;
  readonly postgresLink: Link;
  readonly redisLink: Link;
  readonly logs: string[] = [];
  readonly #plan: MemberPlan;
  #process: MillraceProcess | undefined;
  #life: Promise<void> = Promise.resolve();
  /** What was done to the process that lives now. Killed while it ends on its own request, it may end either way. */
  readonly #done = new Set<"killed" | "asked">();
  #stopped = false;
  /** The checkout whose program it runs; undefined: this one. */
  #root: string | undefined;

  private constructor(plan: MemberPlan, postgresLink: Link, redisLink: Link) {
    this.name = plan.name;
    this.kind = plan.kind;
    this.#plan = plan;
    this.#root = plan.root;
    this.postgresLink = postgresLink;
    this.redisLink = redisLink;
  }

  static async start(plan: MemberPlan): Promise<Member> {
    const { servers } = plan;
    await writeFile(plan.clockFile, "0");
    const member = new Member(plan, await openLink(servers.postgresAddress), await openLink(servers.redisAddress));
    member.#life = member.#live();
    return member;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** It runs the program of another checkout. */
  get isOther(): boolean {
    return this.#root !== undefined;
  }

  get lines(): readonly string[] {
    return this.#process?.lines ?? [];
  }

  async ready(timeoutMs = 120_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      try {
        await this.#process?.waitForLine(/ is ready/, Math.max(1, deadline - performance.now()));
        return;
      } catch (error) {
        // It ended, and another comes up in its place.
        if (performance.now() >= deadline || this.#stopped) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  /** Asks it to end, and waits until the one in its place is ready: how long each took. */
  async restart(timeoutMs: number): Promise<string> {
    const { pid } = this;
    const asked = performance.now();
    const seconds = () => ((performance.now() - asked) / 1_000).toFixed(1);
    this.terminate();
    try {
      await waitUntil(() => this.pid !== pid, { what: "it ends", timeoutMs });
    } catch {
      return `${this.name} still runs after ${seconds()} s`;
    }
    const ended = `${this.name} ended after ${seconds()} s`;
    return await this.ready(Math.max(1, timeoutMs - (performance.now() - asked))).then(
      () => `${ended}, back after ${seconds()} s`,
      () => `${ended}, not back`,
    );
  }

  kill(): void {
    this.#done.add("killed");
    this.#process?.kill("SIGKILL");
  }

  terminate(): void {
    if (this.#done.size > 0) return;
    this.#done.add("asked");
    this.#process?.kill("SIGTERM");
  }

  /** Its clock jumps; 0: it is right again. */
  async setClock(byMs: number): Promise<void> {
    await writeFile(this.#plan.clockFile, String(byMs));
  }

  freeze(): void {
    this.#process?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#process?.kill("SIGCONT");
  }

  /** Processes that this one started: the children of a worker. */
  async children(): Promise<number[]> {
    const { pid } = this;
    if (pid === undefined) return [];
    const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
    return text.split(" ").filter(Boolean).map(Number);
  }

  /** Ends it for good: cleanly, if it can. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#process?.kill("SIGCONT");
    const children = await this.children();
    this.kill();
    await this.#life;
    // They notice that their worker is gone, and until then write where there is soon no folder any more.
    await waitUntil(() => children.every((pid) => !existsSync(`/proc/${pid}`)), {
      what: `the children of ${this.name} are gone`,
      timeoutMs: ORPHAN_GRACE_MS,
    }).catch((error: unknown) => this.#plan.violation(String(error)));
    await this.postgresLink.close();
    await this.redisLink.close();
  }

  async #live(): Promise<void> {
    while (!this.#stopped) {
      this.#done.clear();
      const started = this.#spawn();
      this.#process = started;
      const { code, signal } = await started.exited;
      this.#judge(code, signal, started);
      await started.dispose().catch((error: unknown) => {
        this.#plan.violation(`${this.name} left processes behind: ${String(error).slice(0, 500)}`);
      });
      this.logs.push(...started.lines, `-- ${this.name} (${started.pid}) ended with ${String(code ?? signal)}`);
      if (!this.#stopped) await new Promise((resolve) => setTimeout(resolve, RESTART_AFTER_MS));
    }
  }

  #spawn(): MillraceProcess {
    const { args, env, cwd, servers } = this.#plan;
    const url = new URL(servers.postgresUrl);
    url.port = String(this.postgresLink.port);
    return spawnMillrace({
      args,
      cwd,
      ...(this.#root === undefined ? {} : { root: this.#root }),
      orphanGraceMs: ORPHAN_GRACE_MS,
      env: {
        ...env,
        NODE_OPTIONS: `--import=${SKEWED_CLOCK}`,
        CHAOS_CLOCK: this.#plan.clockFile,
        MILLRACE__DATABASE__URL: url.toString(),
        MILLRACE__BROKER__URL: `redis://127.0.0.1:${this.redisLink.port}/0`,
      },
    });
  }

  #judge(code: number | null, signal: NodeJS.Signals | null, { lines, pid }: MillraceProcess): void {
    const last = lines.slice(-8).join("\n    ");
    for (const line of lines) {
      if (/uncaughtException|unhandledRejection/.test(line)) {
        this.#plan.violation(`${this.name} met an error that nobody handled: ${line.slice(0, 1_500)}`);
      }
    }
    // With nothing there to connect to, a start ends with a message and code 3: the supervisor's business.
    const neverReady = !lines.some((line) => / is ready/.test(line));
    if (neverReady && code === 3) {
      // Started again, an older program refuses the newer schema, and the newer program takes its place.
      if (lines.some((line) => TOO_NEW.test(line))) this.#root = undefined;
      return;
    }
    // Asked before it could listen for it.
    if (neverReady && this.#done.has("asked") && signal === "SIGTERM") return;
    if (signal === "SIGKILL" && (this.#done.has("killed") || this.#plan.isMurdered(pid))) return;
    if (this.#done.has("asked") && code === 0) return;
    const done = this.#done.size === 0 ? "" : ` (it was ${[...this.#done].join(" and ")})`;
    this.#plan.violation(`${this.name} ended by itself with ${String(code ?? signal)}${done}:\n    ${last}`);
  }
}
