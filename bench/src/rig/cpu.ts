// CPU time of the parts of a running engine, read from /proc: processes by what they are, with those they have reaped.
import { readdirSync, readFileSync } from "node:fs";

export type Component = "scheduler" | "worker" | "tasks" | "api" | "postgres" | "redis";
export type CpuMicros = Readonly<Record<Component, number>>;

const TICK_MICROS = 10_000;

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  readonly micros: number;
  /** Of children that have ended. */
  readonly reapedMicros: number;
}

/** @param roots the engine's own processes by name; children of a worker run the tasks */
export function cpuMicros(roots: readonly { readonly name: string; readonly pid: number }[]): CpuMicros {
  const totals = { scheduler: 0, worker: 0, tasks: 0, api: 0, postgres: 0, redis: 0 };
  const stats = readStats();
  const started = startedHere(stats);
  for (const stat of stats) {
    const root = roots.find((process) => process.pid === stat.pid);
    const parent = roots.find((process) => process.pid === stat.parent);
    if (root?.name === "scheduler") totals.scheduler += stat.micros;
    else if (root?.name === "api") totals.api += stat.micros;
    else if (root?.name === "worker") {
      totals.worker += stat.micros;
      totals.tasks += stat.reapedMicros;
    } else if (parent?.name === "worker") totals.tasks += stat.micros;
    else if (!started.has(stat.pid)) continue;
    // Sessions that have ended are in the sum of their server.
    else if (stat.name === "postgres") totals.postgres += stat.micros + stat.reapedMicros;
    else if (/^(redis|valkey)-server/.test(stat.name)) totals.redis += stat.micros;
  }
  return totals;
}

export function cpuBetween(before: CpuMicros, after: CpuMicros): CpuMicros {
  return Object.fromEntries(
    Object.entries(after).map(([name, micros]) => [name, micros - before[name as Component]]),
  ) as CpuMicros;
}

/** Of servers those that the benchmark started; where it uses others, all of the machine. */
function startedHere(stats: readonly ProcessStat[]): ReadonlySet<number> {
  const parents = new Map(stats.map(({ pid, parent }) => [pid, parent]));
  const isOwn = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at)) {
      if (at === process.pid) return true;
    }
    return false;
  };
  const own = stats.filter(({ pid, name }) => isOwn(pid) && /^(postgres|redis-server|valkey-server)/.test(name));
  return new Set((own.length > 0 ? own : stats).map(({ pid }) => pid));
}

function readStats(): ProcessStat[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const text = readFileSync(`/proc/${name}/stat`, "utf8");
        const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
        const number = (at: number) => Number(fields[at]);
        return [
          {
            pid: Number(name),
            parent: number(1),
            name: text.slice(text.indexOf("(") + 1, text.lastIndexOf(")")),
            micros: (number(11) + number(12)) * TICK_MICROS,
            reapedMicros: (number(13) + number(14)) * TICK_MICROS,
          },
        ];
      } catch {
        return []; // It ended meanwhile.
      }
    });
}
