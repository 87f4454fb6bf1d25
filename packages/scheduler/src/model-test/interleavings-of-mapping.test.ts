// A mapped task is expanded by one actor while another one changes its run, in every order that Postgres allows.
import { clearTasks, finishAttempts } from "@millrace/shared/db";
import { expect, test, vi } from "vitest";
import { act, lookAt, openRaces, running, selection, stateOf, type Act } from "./fixtures/races.ts";
import type { Product } from "./fixtures/product.ts";

vi.setConfig({ testTimeout: 180_000 });
const { db, race } = await openRaces();

const tasks = { a: {}, b: { upstream: ["a"], mappedOver: "a" }, c: { upstream: ["b"] } };

/** `a` runs, and returns the list. */
async function listed(product: Product, list: readonly number[]): Promise<void> {
  await running(product);
  const { id = "", epoch = 0 } = product.claims.get("dag run0 a")?.at(-1) ?? {};
  const value = JSON.stringify(list);
  const ended = [[id], [epoch], ["success"], [null], [id], ["return_value"], [value], [null]] as const;
  expect(await db.run(finishAttempts, ended)).toHaveLength(1);
}

const expand: Act<void> = async (on, product) => await act(on, product, lookAt(product, "a"));

const instances = async () =>
  (
    await db.read<{ at: number; state: string; tries: number }>(
      `select map_index as at, coalesce(state, 'none') as state, try_number as tries from task_instance
       where task_id = 'b' order by map_index`,
    )
  ).map(({ at, state, tries }) => `${at} ${state} ${tries}`);

test("two schedulers that see the list expand the task once, and schedule each instance once", async () => {
  await race({
    tasks,
    arrange: async (product) => await listed(product, [1, 2, 3]),
    first: expand,
    second: expand,
    check: async () => {
      expect(await instances()).toEqual(["0 scheduled 1", "1 scheduled 1", "2 scheduled 1"]);
    },
  });
});

test("a clear of the list comes before the expansion, or takes back what came of it, and the new list counts", async () => {
  await race({
    tasks,
    arrange: async (product) => await listed(product, [1, 2, 3]),
    first: expand,
    second: async (on, product) => await clearTasks(on, product.versions, { ...selection, downstream: true }),
    check: async (product) => {
      expect(["-1 none 0", "0 none 1,1 none 1,2 none 1"]).toContain((await instances()).join());
      expect(["none", "scheduled"]).toContain(await stateOf(product));
      await listed(product, [7, 8]);
      await product.settle(new Map(), new Set(["dag"]));
      const [first, second, ...rest] = await instances();
      expect([first, second]).toEqual([expect.stringMatching(/^0 queued/), expect.stringMatching(/^1 queued/)]);
      expect(["", "2 removed 1"]).toContain(rest.join());
    },
  });
});
