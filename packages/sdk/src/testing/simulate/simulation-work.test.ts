// How much a simulation does, counted and not timed: what it costs grows with the tries and with nothing else.
import { expect, test, vi } from "vitest";
import { Dag } from "../../index.ts";
import { Transaction } from "../engine/transaction.ts";
import { checkOptions, type SimulateOptions } from "./options.ts";
import { Simulation } from "./simulation.ts";

function work(options: SimulateOptions) {
  const dag = new Dag("hourly", { schedule: "@hourly", startDate: new Date("2026-01-01T00:00:00Z"), catchup: true });
  const [a, b, c] = ["a", "b", "c"].map((id) => dag.task(id, () => 1)());
  if (a !== undefined) b?.after(a);
  if (b !== undefined) c?.after(b);
  const spec = dag.spec();
  const simulation = new Simulation(spec, options, checkOptions(spec, options));
  const begin = vi.spyOn(simulation.store, "begin");
  const write = vi.spyOn(Transaction.prototype, "writeTask");
  try {
    simulation.run();
    return {
      runs: simulation.store.runs.length,
      transactions: begin.mock.calls.length,
      writes: write.mock.calls.length,
    };
  } finally {
    write.mockRestore();
  }
}

test("a try costs a pass, a claim and a finish, and four writes; a run two transactions more", () => {
  const { runs, transactions, writes } = work({ from: "2026-01-01T00:00:00Z", until: "2026-01-03T00:00:00Z" });
  expect(runs).toBe(2 * 24 - 1);
  const firstLook = 1;
  expect(transactions).toBeLessThanOrEqual(runs * (3 * 3 + 2) + firstLook);
  expect(writes).toBe(runs * 3 * 4);
});

test("ten times as long is ten times as much", () => {
  const [short, long] = [2, 20].map((days) =>
    work({ from: "2026-01-01T00:00:00Z", until: new Date(Date.UTC(2026, 0, 1 + days)) }),
  );
  expect((long?.transactions ?? 0) / (short?.transactions ?? 1)).toBeCloseTo((long?.runs ?? 0) / (short?.runs ?? 1), 1);
});
