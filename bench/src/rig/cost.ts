// What a piece of work costs a task: CPU time by component, commits, and what is written ahead.
import { cpuBetween, cpuMicros, type CpuMicros } from "./cpu.ts";
import type { Engine } from "./engine.ts";
import { forgetStatements, printStatements } from "./statements.ts";

export interface Cost {
  readonly cpu: CpuMicros;
  readonly commits: number;
  readonly walBytes: number;
}

/** What `work` costs each of so many tasks. */
export async function costOf(engine: Engine, tasks: number, work: () => Promise<void>): Promise<Cost> {
  const roots = engine.processes.map(({ name, child }) => ({ name, pid: child.pid ?? 0 }));
  await forgetStatements(engine.db);
  const before = { cpu: cpuMicros(roots), db: await databaseWork(engine) };
  await work();
  const after = { cpu: cpuMicros(roots), db: await databaseWork(engine) };
  await printStatements(engine.db);
  const perTask = Object.entries(cpuBetween(before.cpu, after.cpu)).map(([part, micros]) => [part, micros / tasks]);
  return {
    cpu: Object.fromEntries(perTask) as CpuMicros,
    commits: (after.db.commits - before.db.commits) / tasks,
    walBytes: (after.db.walBytes - before.db.walBytes) / tasks,
  };
}

export const showCpu = (cpu: CpuMicros): string =>
  Object.entries(cpu)
    .filter(([, micros]) => micros > 0)
    .map(([part, micros]) => `${part} ${micros.toFixed(0)}`)
    .join(", ");

async function databaseWork(engine: Engine): Promise<{ commits: number; walBytes: number }> {
  const [row] = await engine.db.read<{ commits: number; walBytes: number }>(
    `select xact_commit as commits, (pg_current_wal_lsn() - '0/0')::float8 as "walBytes"
     from pg_stat_database where datname = current_database()`,
  );
  return row ?? { commits: NaN, walBytes: NaN };
}
