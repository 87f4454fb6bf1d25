import fc from "fast-check";
import { expect, test } from "vitest";
import { TimeHeap } from "./time-heap.ts";

test("waits come out in the order of their moments, and only those that are due", () => {
  const dues = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { maxLength: 300 });
  fc.assert(
    fc.property(dues, fc.integer({ min: -1_000, max: 1_000 }), (all, now) => {
      const heap = new TimeHeap();
      all.forEach((due, id) => heap.add(id, due));
      const taken = heap.takeDue(now, Infinity);
      expect(taken.map((wait) => wait.due)).toEqual(all.filter((due) => due <= now).sort((a, b) => a - b));
      for (const { id, due } of taken) expect(all[id]).toBe(due);
      expect(heap.size).toBe(all.length - taken.length);
      expect(heap.nextDue).toBe(Math.min(...all.filter((due) => due > now)));
    }),
  );
});

test("what is dropped does not come out, and the rest keeps its order", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(500), { maxLength: 300 }), fc.integer({ min: 2, max: 5 }), (all, n) => {
      const heap = new TimeHeap();
      all.forEach((due, id) => heap.add(id, due));
      heap.retain((id) => id % n !== 0);
      const kept = all.filter((_, id) => id % n !== 0);
      expect(heap.takeDue(Infinity, Infinity).map((wait) => wait.due)).toEqual(kept.sort((a, b) => a - b));
    }),
  );
});

test("no more are taken than asked for, and the next call goes on", () => {
  const heap = new TimeHeap();
  for (const due of [5, 3, 1, 4, 2]) heap.add(due, due);
  expect(heap.takeDue(10, 2).map((wait) => wait.id)).toEqual([1, 2]);
  heap.add(0, 0);
  expect([...heap.ids()]).toEqual([0, 3, 4, 5]);
  expect(heap.takeDue(10, 9).map((wait) => wait.id)).toEqual([0, 3, 4, 5]);
  expect([heap.size, heap.nextDue]).toEqual([0, Infinity]);
});

test("it shrinks again after a flood", () => {
  const heap = new TimeHeap();
  for (let id = 0; id < 100_000; id++) heap.add(id, id % 977);
  const dues: number[] = [];
  for (let batch = heap.takeDue(1_000, 1_000); batch.length > 0; batch = heap.takeDue(1_000, 1_000)) {
    for (const { due } of batch) dues.push(due);
  }
  expect(dues).toHaveLength(100_000);
  expect(dues.every((due, at) => at === 0 || due >= (dues[at - 1] ?? 0))).toBe(true);
});
