import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decideLostAttempt, hasTryLeft, jitterOf, MAX_INFRA_FAILURES, retryDelaySeconds } from "./retry.ts";

const DAY = 86_400;
const delays = (task: Parameters<typeof retryDelaySeconds>[0], tries: number, jitter = 0) =>
  Array.from({ length: tries }, (_, i) => retryDelaySeconds(task, i + 1, jitter, DAY));

describe("the delay before a retry", () => {
  test("is the task's own when backoff is off", () => {
    expect(delays({ retryDelay: 300, retryExponentialBackoff: 0 }, 3, 0.9)).toEqual([300, 300, 300]);
    expect(delays({ retryDelay: 0, retryExponentialBackoff: 0 }, 1)).toEqual([0]);
  });

  test("grows by the factor with each try", () => {
    expect(delays({ retryDelay: 300, retryExponentialBackoff: 2 }, 4)).toEqual([300, 600, 1_200, 2_400]);
    expect(delays({ retryDelay: 10, retryExponentialBackoff: 3 }, 3)).toEqual([10, 30, 90]);
  });

  test("adds a jitter below itself", () => {
    expect(retryDelaySeconds({ retryDelay: 100, retryExponentialBackoff: 2 }, 2, 0.5, DAY)).toBe(300);
    expect(retryDelaySeconds({ retryDelay: 100, retryExponentialBackoff: 2 }, 2, 0.999_999, DAY)).toBe(399);
  });

  test("is capped by the task's maxRetryDelay with and without backoff, and by the configured one", () => {
    expect(delays({ retryDelay: 300, retryExponentialBackoff: 2, maxRetryDelay: 500 }, 3)).toEqual([300, 500, 500]);
    expect(delays({ retryDelay: 300, retryExponentialBackoff: 0, maxRetryDelay: 60 }, 1)).toEqual([60]);
    expect(retryDelaySeconds({ retryDelay: 300, retryExponentialBackoff: 2, maxRetryDelay: 1e9 }, 60, 0.5, DAY)).toBe(
      DAY,
    );
    expect(retryDelaySeconds({ retryDelay: 300, retryExponentialBackoff: 2 }, 100_000, 0.5, DAY)).toBe(DAY);
  });

  test("is never negative, never above the cap and never shrinks from one try to the next", () => {
    const task = fc.record({
      retryDelay: fc.double({ min: 0, max: 1e6, noNaN: true }),
      retryExponentialBackoff: fc.constantFrom(0, 1, 1.5, 2, 10),
    });
    fc.assert(
      fc.property(
        task,
        fc.integer({ min: 1, max: 50 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (spec, n, jitter) => {
          const [now, later] = [n, n + 1].map((tryNumber) => retryDelaySeconds(spec, tryNumber, jitter, DAY)) as [
            number,
            number,
          ];
          expect(now).toBeGreaterThanOrEqual(0);
          expect(now).toBeLessThanOrEqual(DAY);
          expect(later).toBeGreaterThanOrEqual(now);
        },
      ),
    );
  });
});

describe("the jitter of a key", () => {
  test("is the same in every process", () => {
    expect(jitterOf("dag#task#run#1")).toBe(456_998_915 / 2 ** 32);
  });

  test("lies in [0, 1) and spreads", () => {
    const values = Array.from({ length: 1_000 }, (_, i) => jitterOf(`etl#load#run_${i}#1`));
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
    const tenths = new Set(values.map((value) => Math.floor(value * 10)));
    expect(tenths.size).toBe(10);
  });
});

describe("a failed attempt", () => {
  test.each([
    { tryNumber: 1, maxTries: 0, retryable: true, left: false },
    { tryNumber: 1, maxTries: 1, retryable: true, left: true },
    { tryNumber: 2, maxTries: 1, retryable: true, left: false },
    { tryNumber: 3, maxTries: 3, retryable: true, left: true },
    { tryNumber: 1, maxTries: 3, retryable: false, left: false },
    { tryNumber: 1, maxTries: -1, retryable: true, left: false },
  ])("on try $tryNumber of $maxTries retries, retryable $retryable: $left", ({ left, ...attempt }) => {
    expect(hasTryLeft(attempt)).toBe(left);
  });
});

describe("an attempt whose worker was lost", () => {
  const outcomes = (retries: number, infraRetries: number) =>
    [0, 1, 2, 3, 4].map((losses) => decideLostAttempt({ retries, infraRetries }, losses));

  test("of a task with retries goes again three times and is then taken for poison", () => {
    expect(outcomes(1, 0)).toEqual(["retry", "retry", "retry", "poison", "poison"]);
    expect(outcomes(9, 9)).toEqual(outcomes(1, 0));
    expect(MAX_INFRA_FAILURES).toBe(3);
  });

  test("of a task without retries fails and is never run again by itself", () => {
    expect(outcomes(0, 0)).toEqual(["fail", "fail", "fail", "fail", "fail"]);
  });

  test("of a task that asks for it goes again as often as it says, three times at most", () => {
    expect(outcomes(0, 1)).toEqual(["retry", "poison", "poison", "poison", "poison"]);
    expect(outcomes(0, 9)).toEqual(["retry", "retry", "retry", "poison", "poison"]);
  });
});
