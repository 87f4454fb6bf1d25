// A workload's outcome as a table for people and a JSON file for programs.
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";

export interface Row {
  readonly metric: string;
  readonly value: string;
  readonly target?: string;
}

export interface Report {
  readonly id: string;
  readonly title: string;
  readonly rows: readonly Row[];
  /** Raw figures. */
  readonly figures: Readonly<Record<string, unknown>>;
}

const RESULTS = fileURLToPath(new URL("../../results/", import.meta.url));

export function publish(report: Report): void {
  const width = Math.max(...report.rows.map((row) => row.metric.length));
  console.log(`\n${report.id}  ${report.title}`);
  for (const row of report.rows) {
    const target = row.target === undefined ? "" : `   [${row.target}]`;
    console.log(`  ${row.metric.padEnd(width)}  ${row.value}${target}`);
  }
  mkdirSync(RESULTS, { recursive: true });
  const machine = { cores: cpus().length, load: loadavg(), node: process.version, at: new Date().toISOString() };
  writeFileSync(`${RESULTS}${report.id}.json`, `${JSON.stringify({ ...report, machine }, null, 2)}\n`);
}
