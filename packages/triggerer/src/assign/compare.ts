// Compares what this triggerer runs with what Postgres says that it has. The two part when an answer was lost, when a task
// was cleared, or when this triggerer was taken for dead and its triggers were given to others.
import { heldTriggers, readTriggers, stillHeld, type Database } from "@millrace/shared/db";
import type { Holdings } from "../run/holdings.ts";

const PAGE = 20_000;
const LOAD = 2_000;

/** Drops what is no longer this triggerer's, of those that run something meanwhile. */
export async function dropLost(db: Database, jobId: number, holdings: Holdings): Promise<void> {
  const active = holdings.active();
  if (active.length === 0) return;
  const held = new Set((await db.run(stillHeld, [jobId, active])).map((row) => row.id));
  holdings.drop(active.filter((id) => !held.has(id)));
}

/** Drops all that is no longer this triggerer's, and loads all that it should have. */
export async function compareAll(db: Database, jobId: number, holdings: Holdings): Promise<void> {
  const before = holdings.ids();
  const held: number[] = [];
  for (let after = 0; ;) {
    const page = await db.run(heldTriggers, [jobId, after, PAGE]);
    for (const row of page) held.push(row.id);
    if (page.length < PAGE) break;
    after = held.at(-1) ?? after;
  }
  // Both are sorted. What was added since the look began is in neither.
  const lost: number[] = [];
  const missing: number[] = [];
  let [a, b] = [0, 0];
  while (a < before.length || b < held.length) {
    const [mine, theirs] = [before[a] ?? Infinity, held[b] ?? Infinity];
    if (mine === theirs) b++;
    if (mine <= theirs) {
      if (mine < theirs) lost.push(mine);
      a++;
    } else {
      missing.push(theirs);
      b++;
    }
  }
  holdings.drop(lost);
  const now = new Set(holdings.ids());
  const unknown = missing.filter((id) => !now.has(id));
  for (let at = 0; at < unknown.length; at += LOAD) {
    holdings.add(await db.run(readTriggers, [jobId, unknown.slice(at, at + LOAD)]));
  }
}
