import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { admit, compareCandidates, type AdmissionSnapshot, type Candidate, type Occupancy } from "./admission.ts";

let made = 0;
const candidate = (given: Partial<Candidate> = {}): Candidate => ({
  id: `id${String(++made).padStart(6, "0")}`,
  epoch: 1,
  dagId: "dag",
  taskId: "task",
  dagRunId: 1,
  mapIndex: -1,
  pool: "pool",
  poolSlots: 1,
  queue: "default",
  priorityWeight: 1,
  logicalDate: 0,
  runAfter: 0,
  ...given,
});

const snapshot = (given: Partial<AdmissionSnapshot>): AdmissionSnapshot => ({
  parallelism: 1_000,
  pools: [{ pool: "pool", slots: -1 }],
  occupancy: [],
  candidates: [],
  limitsOf: () => ({ maxActiveTasks: 1_000 }),
  ...given,
});

const occupied = (given: Partial<Occupancy>): Occupancy => ({
  pool: "pool",
  dagId: "dag",
  taskId: "task",
  dagRunId: 1,
  count: 1,
  slots: 1,
  ...given,
});

const refusals = (given: Partial<AdmissionSnapshot>) => admit(snapshot(given)).refused.map((r) => r.refusal);

const draw = fc.record({
  dagId: fc.constantFrom("a", "b"),
  taskId: fc.constantFrom("x", "y"),
  dagRunId: fc.nat({ max: 2 }),
  pool: fc.constantFrom("p", "q", "endless", "missing"),
  poolSlots: fc.integer({ min: 1, max: 3 }),
  priorityWeight: fc.nat({ max: 3 }),
  logicalDate: fc.option(fc.nat({ max: 3 })),
});

const anySnapshot = fc
  .record({
    parallelism: fc.nat({ max: 12 }),
    slots: fc.tuple(fc.nat({ max: 6 }), fc.nat({ max: 6 })),
    waiting: fc.array(draw, { maxLength: 30 }),
    busy: fc.array(draw, { maxLength: 6 }),
    maxActiveTasks: fc.tuple(fc.nat({ max: 6 }), fc.nat({ max: 6 })),
    perDag: fc.option(fc.nat({ max: 3 }), { nil: undefined }),
    perRun: fc.option(fc.nat({ max: 2 }), { nil: undefined }),
  })
  .map(({ parallelism, slots, waiting, busy, maxActiveTasks, perDag, perRun }): AdmissionSnapshot =>
    snapshot({
      parallelism,
      pools: [
        { pool: "p", slots: slots[0] },
        { pool: "q", slots: slots[1] },
        { pool: "endless", slots: -1 },
      ],
      // A run belongs to one DAG.
      candidates: waiting.map((one) => candidate({ ...one, dagRunId: one.dagRunId + (one.dagId === "a" ? 0 : 10) })),
      occupancy: busy.map((one) =>
        occupied({ ...one, dagRunId: one.dagRunId + (one.dagId === "a" ? 0 : 10), slots: one.poolSlots }),
      ),
      limitsOf: (c) => ({
        maxActiveTasks: maxActiveTasks[c.dagId === "a" ? 0 : 1],
        ...(c.taskId === "x" ? { maxActiveTisPerDag: perDag, maxActiveTisPerDagrun: perRun } : {}),
      }),
    }),
  );

/** What would be used with `also` on top, as [used, allowed] of each limit that `c` is under; counted anew each time. */
function usage(s: AdmissionSnapshot, also: readonly Candidate[], c: Candidate): [number, number][] {
  const units = [...s.occupancy, ...also.map((one) => ({ ...one, count: 1, slots: one.poolSlots }))];
  const sum = (of: "count" | "slots", which: (unit: (typeof units)[number]) => boolean) =>
    units.filter(which).reduce((total, unit) => total + unit[of], 0);
  const limits = s.limitsOf(c);
  const slots = s.pools.find((pool) => pool.pool === c.pool)?.slots ?? 0;
  const sameTask = (unit: { dagId: string; taskId: string }) => unit.dagId === c.dagId && unit.taskId === c.taskId;
  return [
    [sum("count", () => true), s.parallelism],
    [sum("slots", (unit) => unit.pool === c.pool), slots < 0 ? Infinity : slots],
    [sum("count", (unit) => unit.dagId === c.dagId), limits.maxActiveTasks],
    [sum("count", sameTask), limits.maxActiveTisPerDag ?? Infinity],
    [sum("count", (unit) => sameTask(unit) && unit.dagRunId === c.dagRunId), limits.maxActiveTisPerDagrun ?? Infinity],
  ];
}

const fits = (s: AdmissionSnapshot, also: readonly Candidate[], c: Candidate) =>
  usage(s, [...also, c], c).every(([used, allowed]) => used <= allowed);

describe("admission", () => {
  test("never exceeds a limit", () => {
    fc.assert(
      fc.property(anySnapshot, (s) => {
        const { admitted } = admit(s);
        for (const c of admitted)
          expect(
            fits(
              s,
              admitted.filter((other) => other !== c),
              c,
            ),
          ).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test("refuses only what did not fit after those that come before it, and says which limit", () => {
    fc.assert(
      fc.property(anySnapshot, (s) => {
        const { admitted, refused } = admit(s);
        expect(admitted.length + refused.length).toBe(s.candidates.length);
        for (const { candidate: c, refusal } of refused) {
          const before = admitted.filter((other) => compareCandidates(other, c) < 0);
          expect(fits(s, before, c)).toBe(false);
          const names = [
            "parallelism",
            "pool",
            "max_active_tasks",
            "max_active_tis_per_dag",
            "max_active_tis_per_dagrun",
          ];
          const full = usage(s, [...before, c], c).flatMap(([used, allowed], i) => (used > allowed ? [names[i]] : []));
          expect(full).toContain(refusal.limit === "pool_missing" ? "pool" : refusal.limit);
        }
      }),
      { numRuns: 250 },
    );
  });

  test("does not depend on the order in which candidates come", () => {
    fc.assert(
      fc.property(anySnapshot, (s) => {
        const ids = (one: AdmissionSnapshot) => admit(one).admitted.map((c) => c.id);
        expect(ids({ ...s, candidates: s.candidates.toReversed() })).toEqual(ids(s));
      }),
      { numRuns: 100 },
    );
  });

  test("lets the two tasks of one DAG pass five hundred of another that are blocked", () => {
    const blocked = Array.from({ length: 500 }, () => candidate({ dagId: "a", priorityWeight: 9 }));
    const free = [candidate({ dagId: "b" }), candidate({ dagId: "b" })];
    const { admitted } = admit(
      snapshot({
        candidates: [...blocked, ...free],
        parallelism: 64,
        limitsOf: (c) => ({ maxActiveTasks: c.dagId === "a" ? 1 : 16 }),
      }),
    );
    expect(admitted.map((c) => c.dagId)).toEqual(["a", "b", "b"]);
  });

  test("lets a smaller task of lower priority take the slots that a bigger one does not fit into", () => {
    const big = candidate({ poolSlots: 3, priorityWeight: 9 });
    const small = candidate({ poolSlots: 1 });
    const { admitted, refused } = admit(snapshot({ pools: [{ pool: "pool", slots: 2 }], candidates: [small, big] }));
    expect(admitted).toEqual([small]);
    expect(refused).toEqual([{ candidate: big, refusal: { limit: "pool", pool: "pool", of: 2, used: 0, needs: 3 } }]);
  });

  test("goes by priority, then the older logical date, none last, then the older run, then the index", () => {
    const order = [
      candidate({ priorityWeight: 5, logicalDate: 9 }),
      candidate({ logicalDate: 1, runAfter: 9 }),
      candidate({ logicalDate: 2, runAfter: 1, mapIndex: 3 }),
      candidate({ logicalDate: 2, runAfter: 2, mapIndex: 0 }),
      candidate({ logicalDate: 2, runAfter: 2, mapIndex: 1 }),
      candidate({ logicalDate: null, runAfter: 0 }),
      candidate({ logicalDate: null, runAfter: 1 }),
    ];
    expect(order.toReversed().sort(compareCandidates)).toEqual(order);
    expect(admit(snapshot({ candidates: order.toReversed(), parallelism: 2 })).admitted).toEqual(order.slice(0, 2));
  });

  test("counts what is occupied already, of the right pool, DAG, task and run", () => {
    const one = candidate();
    const busy = [occupied({})];
    expect(refusals({ candidates: [one], occupancy: busy, parallelism: 1 })).toEqual([{ limit: "parallelism", of: 1 }]);
    expect(refusals({ candidates: [one], occupancy: busy, limitsOf: () => ({ maxActiveTasks: 1 }) })).toEqual([
      { limit: "max_active_tasks", dagId: "dag", of: 1 },
    ]);
    const perDag = () => ({ maxActiveTasks: 9, maxActiveTisPerDag: 1 });
    expect(refusals({ candidates: [one], occupancy: [occupied({ dagRunId: 2 })], limitsOf: perDag })).toEqual([
      { limit: "max_active_tis_per_dag", taskId: "task", of: 1 },
    ]);
    expect(refusals({ candidates: [one], occupancy: [occupied({ dagId: "other" })], limitsOf: perDag })).toEqual([]);
    const perRun = () => ({ maxActiveTasks: 9, maxActiveTisPerDagrun: 1 });
    expect(refusals({ candidates: [one], occupancy: busy, limitsOf: perRun })).toEqual([
      { limit: "max_active_tis_per_dagrun", taskId: "task", of: 1 },
    ]);
    expect(refusals({ candidates: [one], occupancy: [occupied({ dagRunId: 2 })], limitsOf: perRun })).toEqual([]);
  });

  test("leaves a task whose pool does not exist where it is, and lets others go", () => {
    const lost = candidate({ pool: "gone", priorityWeight: 9 });
    const { admitted, refused } = admit(snapshot({ candidates: [lost, candidate()] }));
    expect(admitted).toHaveLength(1);
    expect(refused).toEqual([{ candidate: lost, refusal: { limit: "pool_missing", pool: "gone" } }]);
  });

  test("counts slots of deferred attempts that their pool includes, and no attempt for them", () => {
    const deferred = [occupied({ dagId: "", taskId: "", dagRunId: 0, count: 0, slots: 2 })];
    const given = { candidates: [candidate()], occupancy: deferred, parallelism: 1 };
    expect(refusals({ ...given, pools: [{ pool: "pool", slots: 2 }] })).toMatchObject([{ limit: "pool", used: 2 }]);
    expect(refusals({ ...given, pools: [{ pool: "pool", slots: 3 }] })).toEqual([]);
  });
});
