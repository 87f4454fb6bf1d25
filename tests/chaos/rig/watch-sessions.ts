// Looks at the sessions in Postgres while the faults go on: no process of the fleet holds a lock for longer than is
// promised, whatever became of it or of its connection, and the number of sessions stays what the pools allow. What the
// monkey itself locks is its own.
import { Periodic } from "@millrace/shared/lifecycle";
import type { Fleet } from "./fleet.ts";

const EVERY_MS = 1_000;
const BEAT_MS = 250;
const LONGEST_SECONDS = 15;
/** Who was late once may have been late at each step. */
const LATE_TIMES = 3;
/** Of each process: its pool, and what listens. A link that was broken may leave as many behind for a moment. */
const SESSIONS_EACH = 8;

export interface Watch {
  readonly found: string[];
  /** How much later than asked for this process was called, at worst: a machine that is busy makes everybody late. */
  readonly lateSeconds: () => number;
  stop(): Promise<void>;
}

export function watchSessions(fleet: Fleet): Watch {
  const found: string[] = [];
  let late = 0;
  let before = performance.now();
  const metronome = setInterval(() => {
    late = Math.max(late, performance.now() - before - BEAT_MS);
    before = performance.now();
  }, BEAT_MS);
  const look = async () => {
    const held = await fleet.servers.query<{ what: string }>(
      `select format('%s (%s, %s) has held locks for %s s: %s', application_name, pid, state,
          round(extract(epoch from now() - xact_start), 1), left(query, 100)) as what
       from pg_stat_activity a
       where application_name like 'millrace%' and xact_start < now() - make_interval(secs => $1)
         and exists (
           select from pg_locks l
           where l.pid = a.pid and l.granted and l.locktype <> 'virtualxid' and l.mode <> 'AccessShareLock')`,
      [LONGEST_SECONDS + (LATE_TIMES * late) / 1_000],
    );
    found.push(...held.map((row) => row.what));
    const [sessions] = await fleet.servers.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where application_name like 'millrace%'`,
    );
    const most = 2 * SESSIONS_EACH * fleet.members.length;
    if (sessions !== undefined && sessions.n > most) found.push(`${sessions.n} sessions, more than ${most}`);
  };
  const periodic = new Periodic({ everyMs: EVERY_MS, run: look, onError: () => undefined });
  void periodic.start();
  const stop = async () => {
    clearInterval(metronome);
    await periodic.stop();
  };
  return { found, lateSeconds: () => late / 1_000, stop };
}
