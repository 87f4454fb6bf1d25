// Bugs to plant: each breaks one promise in the way that somebody might by accident. `by` is the cheapest test that must
// fail with it. A bug that nothing can notice says why in `equivalent`, and is not run.

export interface Mutation {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly by: readonly string[];
  /** Of those files, only the tests whose names match. */
  readonly only?: string;
  readonly equivalent?: string;
}

const STATEMENTS = "packages/shared/src/db/statements";
const ATTEMPTS = ["packages/shared/src/db/attempts.test.ts"];
const OCCUPANCY = ["packages/scheduler/src/model-test/occupancy.test.ts"];

export const MUTATIONS: readonly Mutation[] = [
  {
    name: "a claim that does not look at the epoch",
    file: `${STATEMENTS}/claim-attempts.ts`,
    find: "where ti.id = m.id and ti.epoch = m.epoch and ${stateOf(\"ti\")} = 'queued'",
    replace: "where ti.id = m.id and ti.state = 'queued'",
    by: ATTEMPTS,
  },
  {
    name: "a claim of what is claimed already",
    file: `${STATEMENTS}/claim-attempts.ts`,
    find: "and ti.epoch = m.epoch and ${stateOf(\"ti\")} = 'queued'",
    replace: "and ti.epoch <= m.epoch + 1 and ti.state in ('queued', 'running')",
    by: ATTEMPTS,
  },
  {
    name: "an end that does not look at the epoch",
    file: `${STATEMENTS}/finish-attempts.ts`,
    find: "where ti.id = f.id and ti.epoch = f.epoch and ${stateOf(\"ti\")} = 'running'",
    replace: "where ti.id = f.id and ti.state = 'running'",
    by: ATTEMPTS,
  },
  {
    name: "a new try that keeps the results of the one before",
    file: `${STATEMENTS}/claim-attempts.ts`,
    find: "where c.try_number > 1 and c.next_method is null",
    replace: "where c.try_number > 1000 and c.next_method is null",
    by: ["packages/shared/src/db/tries.test.ts"],
  },
  {
    name: "Postgres accepts an epoch that jumps",
    file: "packages/shared/src/db/guard.ts",
    find: "when n.epoch = o.epoch + 1 and",
    replace: "when n.epoch >= o.epoch and",
    by: ["packages/shared/src/db/guard.test.ts"],
  },
  {
    name: "messages sent before the commit",
    file: "packages/scheduler/src/scheduler.ts",
    find: "return { started, examined, queueing,",
    replace: "this.#dispatcher.dispatch(await queueing.attempts);\n      return { started, examined, queueing,",
    by: ["packages/scheduler/src/dispatch/send-after-commit.test.ts"],
  },
  {
    name: "limits read before the lock",
    file: "packages/scheduler/src/critical-section/queue-scheduled-tasks.ts",
    find: "const [, [first]] = await Promise.all([\n    deps.tx.run(lockCriticalSection, []),\n    byLanes ? readLanes() : deps.tx.run(readAdmissionInOrder, [parallelism, atMost, atMost]),\n  ]);",
    replace:
      "const [[first]] = await Promise.all([\n    byLanes ? readLanes() : deps.tx.run(readAdmissionInOrder, [parallelism, atMost, atMost]),\n    deps.tx.run(lockCriticalSection, []),\n  ]);",
    by: OCCUPANCY,
  },
  {
    name: "a sweep that waits for rows that another judges",
    file: `${STATEMENTS}/lock-lost-attempts.ts`,
    find: "for update skip locked`",
    replace: "for update`",
    by: ["packages/scheduler/src/recovery/handle-lost-attempts.test.ts"],
  },
  {
    name: "a sweep that locks nothing",
    file: `${STATEMENTS}/lock-lost-attempts.ts`,
    find: "\nfor update skip locked`",
    replace: "`",
    by: ["packages/scheduler/src/recovery/handle-lost-attempts.test.ts"],
  },
  {
    name: "a lost worker that uses up a retry",
    file: "packages/scheduler/src/recovery/handle-lost-attempts.ts",
    find: "again.map(() => 0),\n      again.map(() => true),",
    replace: "again.map(() => 0),\n      again.map(() => false),",
    by: ["packages/scheduler/src/recovery/handle-lost-attempts.test.ts"],
  },
  {
    name: "silence judged right after Postgres is back",
    file: `${STATEMENTS}/lock-lost-attempts.ts`,
    find: "\n  and pg_postmaster_start_time() < now() - make_interval(secs => $1)",
    replace: "",
    by: ["packages/scheduler/src/recovery/handle-lost-attempts.test.ts"],
  },
  {
    name: "a lease by the clock of the worker",
    file: `${STATEMENTS}/heartbeat-attempts.ts`,
    find: "set latest_heartbeat = now()",
    replace: "set latest_heartbeat = '${new Date(Date.now() - 3_600_000).toISOString()}'",
    by: ATTEMPTS,
  },
  {
    name: "a claim whose answer was lost is made again, not asked for",
    file: "packages/worker/src/claim/claimer.ts",
    find: "isRepeat ? await db.run(readClaims, [ids, tokens]) : []",
    replace: "[]",
    by: ["packages/worker/src/claim/claimer.unit.test.ts"],
  },
  {
    name: "a message's id that does not tell attempts apart",
    file: "packages/shared/src/queue/broker.ts",
    find: "`${message.id}_${message.epoch}",
    replace: "`${message.id}",
    by: ["packages/shared/src/queue/broker.test.ts"],
  },
  {
    name: "what is sent again has the id of what was sent",
    file: "packages/shared/src/queue/broker.ts",
    find: 'again ? `_${Math.floor(Date.now() / COPY_MS) % COPIES}` : ""',
    replace: 'again ? "" : ""',
    by: ["packages/shared/src/queue/send-again.test.ts"],
  },
  {
    name: "a retry too few",
    file: "packages/shared/src/model/retry.ts",
    find: "attempt.tryNumber <= attempt.maxTries",
    replace: "attempt.tryNumber < attempt.maxTries",
    by: ["packages/shared/src/model/retry.test.ts"],
  },
  {
    name: "an attempt that was taken away is not stopped",
    file: "packages/worker/src/heartbeat/heartbeats.ts",
    find: "if (row === undefined)\n",
    replace: "if (row === undefined && asked.length > 1_000)\n",
    by: ["packages/worker/src/heartbeat/heartbeats.unit.test.ts"],
  },
  {
    name: "a run that fails fast takes for skipped what another queued",
    file: "packages/scheduler/src/runs/apply-fail-fast.ts",
    find: "end.skip.filter((ti) => ids.has(ti.id))",
    replace: "end.skip",
    by: ["packages/scheduler/src/model-test/interleavings.test.ts"],
    only: "fails fast",
  },
  {
    name: "a worker without an answer goes on for ever",
    file: "packages/worker/src/heartbeat/heartbeats.ts",
    find: "const before = this.#clock.now() - leaseSeconds * 1000;",
    replace: "const before = this.#clock.now() - leaseSeconds * 1_000_000;",
    by: ["packages/worker/src/heartbeat/heartbeats.unit.test.ts"],
  },
  {
    name: "a heartbeat that passed a row over counts as one that is on it",
    file: `${STATEMENTS}/heartbeat-attempts.ts`,
    find: 'id in (select id from free) as "isProven"',
    replace: 'true as "isProven"',
    by: ATTEMPTS,
    only: "does not wait for a row that somebody holds",
  },
  {
    name: "an end that stands is reported as stale after its answer was lost",
    file: "packages/worker/src/finish/finisher.ts",
    find: "if (row === undefined) return false;\n    if (ending.kind",
    replace: "if (row !== undefined) return false;\n    if (ending.kind",
    by: ["packages/worker/src/finish/finisher.unit.test.ts"],
  },
  {
    name: "an older scheduler judges the lost attempts of a DAG that it cannot read",
    file: "packages/scheduler/src/recovery/handle-lost-attempts.ts",
    find: "const lost = found.filter((attempt) => !deps.versions.isNewer(attempt.versionId));",
    replace: "const lost = found;",
    by: ["packages/scheduler/src/recovery/handle-lost-attempts.test.ts"],
    only: "newer schedulers",
  },
  {
    name: "an older scheduler queues tasks whose limits it cannot read",
    file: "packages/scheduler/src/critical-section/queue-scheduled-tasks.ts",
    find: "candidates: snapshot.candidates.filter((candidate) => !deps.versions.isNewer(candidate.versionId)),",
    replace: "candidates: snapshot.candidates,",
    by: ["packages/scheduler/src/faults.test.ts"],
    only: "newer processes",
  },
  {
    name: "a connection that hangs keeps its locks for a minute",
    file: "packages/shared/src/db/database.ts",
    find: "const WAIT_MS = 10_000;",
    replace: "const WAIT_MS = 60_000;",
    by: ["packages/shared/src/db/database.test.ts"],
    only: "lets go",
  },
  {
    name: "a database that is too busy is the task's failure",
    file: "packages/shared/src/db/failures.ts",
    find: "if (wasRolledBack(error) || isCancelled(error)) return true;",
    replace: "",
    by: ["packages/shared/src/db/database.test.ts"],
    only: "too busy",
  },
];
