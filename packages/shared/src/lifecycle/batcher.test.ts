import { fakeClock } from "@millrace/testkit";
import { describe, expect, test } from "vitest";
import { Batcher } from "./batcher.ts";

/** A flush that ends when the test says so. */
function controlled() {
  const flushes: {
    items: readonly number[];
    end: (results?: readonly number[]) => void;
    fail: (error: Error) => void;
  }[] = [];
  let arrived: (() => void) | undefined;
  const flush = (items: readonly number[]) =>
    new Promise<readonly number[]>((resolve, reject) => {
      flushes.push({ items, end: (results = items.map((n) => n * 10)) => resolve(results), fail: reject });
      arrived?.();
    });
  const next = async (n: number) => {
    while (flushes.length < n) await new Promise<void>((resolve) => (arrived = resolve));
    const found = flushes[n - 1];
    if (found === undefined) throw new Error(`no flush ${n}`);
    return found;
  };
  return { flush, flushes, next };
}

describe("a batcher", () => {
  test("sends what was added in one turn together, and gives each item its own result", async () => {
    const { flush, next } = controlled();
    const batcher = new Batcher({ flush, maxItems: 10 });
    const results = Promise.all([batcher.add(1), batcher.add(2), batcher.add(3)]);
    const first = await next(1);
    expect(first.items).toEqual([1, 2, 3]);
    first.end();
    expect(await results).toEqual([10, 20, 30]);
  });

  test("gathers what comes during a flush for the next one, in order", async () => {
    const { flush, flushes, next } = controlled();
    const batcher = new Batcher({ flush, maxItems: 10 });
    const one = batcher.add(1);
    const first = await next(1);
    const later = [batcher.add(2), batcher.add(3)];
    await Promise.resolve();
    expect(flushes).toHaveLength(1);
    first.end();
    expect((await next(2)).items).toEqual([2, 3]);
    flushes[1]?.end();
    expect(await Promise.all([one, ...later])).toEqual([10, 20, 30]);
  });

  test("rests after a large flush, until the time is over or enough has come", async () => {
    const clock = fakeClock();
    const { flush, flushes, next } = controlled();
    const batcher = new Batcher({ flush, maxItems: 10, restMs: 4, enough: 3, clock });
    const add = (...items: number[]) => void Promise.all(items.map((item) => batcher.add(item)));
    add(1, 2, 3, 4);
    (await next(1)).end();
    await clock.advance(0);
    add(5, 6);
    await clock.advance(3);
    expect(flushes).toHaveLength(1);
    await clock.advance(1);
    expect((await next(2)).items).toEqual([5, 6]);
    flushes[1]?.end();
    await clock.advance(0);
    add(7, 8, 9, 10);
    (await next(3)).end();
    await clock.advance(0);
    add(11, 12);
    await clock.advance(1);
    expect(flushes).toHaveLength(3);
    add(13);
    expect((await next(4)).items).toEqual([11, 12, 13]);
    flushes[3]?.end();
    await batcher.drain();
    expect(clock.pending).toBe(0);
  });

  test("never puts more than maxItems into a batch, nor runs more than its lanes", async () => {
    let active = 0;
    let most = 0;
    const sizes: number[] = [];
    const batcher = new Batcher<number, number>({
      maxItems: 4,
      lanes: 2,
      flush: async (items) => {
        most = Math.max(most, ++active);
        sizes.push(items.length);
        await new Promise((resolve) => setImmediate(resolve));
        active--;
        return items;
      },
    });
    const numbers = Array.from({ length: 50 }, (_, i) => i);
    expect(await Promise.all(numbers.map((n) => batcher.add(n)))).toEqual(numbers);
    expect(Math.max(...sizes)).toBe(4);
    expect(most).toBe(2);
  });

  test("rejects the items of a batch that failed, those only, and goes on", async () => {
    const { flush, next } = controlled();
    const batcher = new Batcher({ flush, maxItems: 1 });
    const bad = batcher.add(1);
    const good = batcher.add(2);
    (await next(1)).fail(new Error("no disk"));
    await expect(bad).rejects.toThrow("no disk");
    (await next(2)).end();
    expect(await good).toBe(20);
  });

  test("takes a flush that gives too few results, or throws at once, for a failure", async () => {
    const { flush, next } = controlled();
    const short = new Batcher({ flush, maxItems: 2 });
    const both = Promise.allSettled([short.add(1), short.add(2)]);
    (await next(1)).end([10]);
    expect((await both).map((result) => result.status)).toEqual(["rejected", "rejected"]);
    const throwing = new Batcher<number, number>({
      maxItems: 1,
      flush: () => {
        throw new Error("at once");
      },
    });
    await expect(throwing.add(1)).rejects.toThrow("at once");
  });

  test("is drained when nothing waits and nothing is under way", async () => {
    const { flush, flushes, next } = controlled();
    const batcher = new Batcher({ flush, maxItems: 1 });
    await batcher.drain();
    const added = [batcher.add(1), batcher.add(2)];
    let drained = false;
    const draining = Promise.all([batcher.drain(), batcher.drain()]).then(() => (drained = true));
    (await next(1)).end();
    const second = await next(2);
    expect(drained).toBe(false);
    second.end();
    await draining;
    expect(flushes).toHaveLength(2);
    await Promise.all(added);
  });
});
