import { describe, expect, test } from "vitest";
import { spanOf } from "../run/span.ts";
import { describeStates, foremost, stateOf } from "../states/states.ts";
import { orderTasks } from "./order-tasks.ts";
import { parseConf } from "./parse-conf.ts";
import { step } from "./step.ts";
import { windowAt } from "./use-row-window.ts";

const node = (task_id: string, ...upstream: string[]) => ({ task_id, upstream });
const order = (...nodes: ReturnType<typeof node>[]) => orderTasks(nodes).map((p) => `${p.node.task_id}${p.depth}`);

describe("the order of tasks", () => {
  test("puts upstream first and keeps branches together", () => {
    expect(order(node("c", "a", "b"), node("a"), node("b"))).toEqual(["a0", "b0", "c1"]);
    expect(order(node("a"), node("b"), node("a2", "a"), node("b2", "b"))).toEqual(["a0", "a21", "b0", "b21"]);
    expect(order(node("a"), node("b", "a"), node("c", "b", "a"))).toEqual(["a0", "b1", "c2"]);
  });

  test("takes chains of any length, and ignores upstream that is not there", () => {
    const chain = Array.from({ length: 5_000 }, (_, i) => (i === 0 ? node("t0") : node(`t${i}`, `t${i - 1}`)));
    expect(orderTasks(chain).at(-1)?.depth).toBe(4_999);
    expect(order(node("a", "gone"))).toEqual(["a0"]);
  });
});

test("keys walk the grid and stop at its edges", () => {
  const size = { rows: 2, columns: 3 };
  expect(step({ row: -1, column: 0 }, "ArrowUp", size)).toEqual({ row: -1, column: 0 });
  expect(step({ row: -1, column: 0 }, "ArrowDown", size)).toEqual({ row: 0, column: 0 });
  expect(step({ row: 1, column: 2 }, "ArrowRight", size)).toEqual({ row: 1, column: 2 });
  expect(step({ row: 1, column: 2 }, "Home", size)).toEqual({ row: 1, column: 0 });
  expect(step({ row: 1, column: 2 }, "x", size)).toBeUndefined();
});

test("of a long grid only lines near what is seen are there; a short one is whole", () => {
  expect(windowAt(0, 150)).toEqual({ from: 0, to: 150 });
  expect(windowAt(0, 1_000)).toEqual({ from: 0, to: 90 });
  expect(windowAt(15_000, 1_000)).toEqual({ from: 480, to: 570 });
  expect(windowAt(1_000_000, 1_000)).toEqual({ from: 910, to: 1_000 });
});

test("a conf is an object or nothing", () => {
  expect(parseConf(" ")).toEqual({ conf: {} });
  expect(parseConf('{"a": 1}')).toEqual({ conf: { a: 1 } });
  for (const bad of ["[1]", "1", "null", "{a: 1}", '"x"']) expect(parseConf(bad)).toHaveProperty("problem");
});

test("of many states the one that asks for attention is shown", () => {
  expect(foremost({ success: 9, failed: 1 })).toBe("failed");
  expect(foremost({ success: 9, running: 1 })).toBe("running");
  expect(foremost({})).toBe("none");
  expect(describeStates({ success: 1 })).toBe("success");
  expect(describeStates({ success: 7, failed: 3 })).toBe("3 failed, 7 success");
  expect([stateOf("odd"), stateOf(null), stateOf("queued")]).toEqual(["none", "none", "queued"]);
});

test("a task lies where it ran within its run", () => {
  const at = (s: number) => new Date(s * 1000).toISOString();
  const run = { start_date: at(0), end_date: at(100) };
  expect(spanOf(run, { start_date: at(10), end_date: at(30) }, 0)).toEqual({ from: 10, width: 20 });
  expect(spanOf(run, { start_date: at(50), end_date: at(50) }, 0)).toEqual({ from: 50, width: 1 });
  expect(spanOf({ ...run, end_date: null }, { start_date: at(50), end_date: null }, 200_000)).toEqual({
    from: 25,
    width: 75,
  });
  expect(spanOf(run, { start_date: null, end_date: null }, 0)).toBeNull();
});
