// With --statements: what Postgres did in each measured piece of work, by statement. It costs a few per cent, so that the
// figures of such a run are not to be compared with those of one without.
import type { Database } from "@millrace/shared/db";
import pg from "pg";

const isOn = process.argv.includes("--statements");
const SHOWN = 12;
const LETTERS = 110;

export const STATEMENT_SETTINGS: Readonly<Record<string, string>> = isOn
  ? { shared_preload_libraries: "pg_stat_statements", "pg_stat_statements.track_planning": "on" }
  : {};

export async function watchStatements(url: string): Promise<void> {
  if (!isOn) return;
  const client = new pg.Client(url);
  await client.connect();
  await client.query("create extension pg_stat_statements");
  await client.end();
}

export async function forgetStatements(db: Database): Promise<void> {
  if (isOn) await db.read("select pg_stat_statements_reset()");
}

export async function printStatements(db: Database): Promise<void> {
  if (!isOn) return;
  const rows = await db.read<{
    calls: number;
    ms: number;
    planMs: number;
    blocks: number;
    rows: number;
    query: string;
  }>(
    `select calls::int, total_exec_time as ms, total_plan_time as "planMs", rows::int,
       (shared_blks_hit + shared_blks_read)::float8 as blocks, regexp_replace(query, '\\s+', ' ', 'g') as query
     from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())
     order by total_exec_time + total_plan_time desc limit $1`,
    [SHOWN],
  );
  console.log("  ms in all | planning |  calls | ms a call | blocks a call | rows a call | statement");
  for (const { calls, ms, planMs, blocks, rows: found, query } of rows) {
    const cells = [
      (ms + planMs).toFixed(0).padStart(9),
      planMs.toFixed(0).padStart(8),
      String(calls).padStart(6),
      ((ms + planMs) / calls).toFixed(2).padStart(9),
      (blocks / calls).toFixed(0).padStart(13),
      (found / calls).toFixed(1).padStart(11),
      query.trim().slice(0, LETTERS),
    ];
    console.log(`  ${cells.join(" | ")}`);
  }
}
