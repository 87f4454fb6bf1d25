import { describe, expect, test } from "vitest";
import { errorPlace } from "./error-place.ts";
import { elapsed, formatClock, formatDuration, formatRelative, formatTime } from "./time.ts";

describe("times", () => {
  test("are local and name their zone, on both sides of a change of the clock", () => {
    expect(formatTime("2026-10-24T22:30:00Z", "Europe/Vienna")).toBe("25 Oct 2026, 00:30 CEST");
    expect(formatTime("2026-10-25T22:30:00Z", "Europe/Vienna")).toBe("25 Oct 2026, 23:30 CET");
    expect(formatTime("2026-01-01T00:00:00Z", "Asia/Kolkata")).toBe("1 Jan 2026, 05:30 GMT+5:30");
    expect(formatTime(null)).toBe("—");
    expect(formatClock("2026-01-01T00:00:00.120Z", "UTC")).toBe("00:00:00.120");
  });

  test.each([
    [0, "now"],
    [4, "now"],
    [30, "in 30 seconds"],
    [-100, "2 minutes ago"],
    [7_200, "in 2 hours"],
    [-90_000, "1 day ago"],
    [40 * 86_400, "in 1 month"],
  ])("%d s away are %s", (seconds, text) => {
    expect(formatRelative(new Date(seconds * 1000).toISOString(), 0).replaceAll("−", "-")).toBe(text);
  });

  test.each([
    [null, "—"],
    [-1, "—"],
    [0.42, "0.42 s"],
    [12.34, "12.3 s"],
    [245, "4 min 05 s"],
    [7_620, "2 h 07 min"],
    [273_600, "3 d 04 h"],
  ])("a duration of %s reads %s", (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });

  test("that go on are counted to now", () => {
    expect(elapsed("1970-01-01T00:00:01Z", null, 5_000)).toBe(4);
    expect(elapsed("1970-01-01T00:00:01Z", "1970-01-01T00:00:03Z", 9_000)).toBe(2);
    expect(elapsed(null, null, 0)).toBeNull();
  });
});

describe("the place of an error", () => {
  test("is the first line of its own file in the stack", () => {
    const stack = "TypeError: no rows\n    at lib.ts:1:1\n    at file:///dags/a/etl.ts:12:31";
    expect(errorPlace("a/etl.ts", stack)).toEqual({ message: "TypeError: no rows", place: "a/etl.ts:12:31" });
  });

  test("is the file alone when the stack does not say", () => {
    expect(errorPlace("etl.ts", "Timed out")).toEqual({ message: "Timed out", place: "etl.ts" });
    expect(errorPlace("e(.ts", "").place).toBe("e(.ts");
  });
});
