import { resolve, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { attemptLogPath } from "./attempt-log-path.ts";

const key = { dagId: "etl", runId: "manual__2026-01-01T00:00:00.000Z", taskId: "load", mapIndex: -1, tryNumber: 2 };

describe("the log of an attempt", () => {
  test("lies under its DAG, run and task", () => {
    expect(attemptLogPath("/logs", key)).toBe(
      "/logs/dag_id=etl/run_id=manual__2026-01-01T00%3A00%3A00.000Z/task_id=load/attempt=2.log",
    );
    expect(attemptLogPath("/logs", { ...key, mapIndex: 3 })).toContain("/task_id=load/map_index=3/attempt=2.log");
  });

  test.each(["..", ".", "../../etc/passwd", "..\\..\\x", "a/../../b", "\0", "/etc", "%2e%2e%2f", "é".repeat(250), "~"])(
    "never leaves its folder: %j",
    (evil) => {
      for (const part of ["dagId", "runId", "taskId"]) {
        const path = resolve(attemptLogPath("/logs", { ...key, [part]: evil }));
        const segments = path.split(sep);
        expect(path.startsWith("/logs/dag_id=")).toBe(true);
        expect(segments).toHaveLength(6);
        expect(segments.every((segment) => Buffer.byteLength(segment) <= 255 && !segment.includes("\0"))).toBe(true);
      }
    },
  );

  test("of two long ids that begin alike are two files", () => {
    const [one, other] = ["a", "b"].map((end) => attemptLogPath("/", { ...key, dagId: "x".repeat(249) + end }));
    expect(one).not.toBe(other);
  });

  test("refuses an index that is no integer", () => {
    expect(() => attemptLogPath("/logs", { ...key, tryNumber: Number.NaN })).toThrow(RangeError);
  });
});
