import { Cron } from "croner";
import fc from "fast-check";
import { expect, test } from "vitest";
import { dailyTimes } from "./daily-times.ts";

const part = (max: number) =>
  fc.oneof(
    fc.constant("*"),
    fc.nat({ max }).map(String),
    fc.tuple(fc.nat({ max }), fc.nat({ max })).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc.integer({ min: 1, max }).map((step) => `*/${step}`),
    fc
      .tuple(fc.nat({ max }), fc.nat({ max }), fc.integer({ min: 1, max }))
      .map(([a, b, step]) => `${Math.min(a, b)}-${Math.max(a, b)}/${step}`),
  );
const field = (max: number) => fc.array(part(max), { minLength: 1, maxLength: 3 }).map((parts) => parts.join());

test("gives what the general search gives", () => {
  const instant = fc.integer({ min: Date.parse("2000-01-01"), max: Date.parse("2040-01-01") });
  fc.assert(
    fc.property(field(59), field(23), instant, (minute, hour, at) => {
      const next = dailyTimes([minute, hour, "*", "*", "*"]);
      const cron = new Cron(`${minute} ${hour} * * *`, { timezone: "UTC", sloppyRanges: true, paused: true });
      expect(next?.(at)).toBe(cron.nextRun(new Date(at))?.getTime());
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["0 0 1 * *"],
  ["0 0 * * 1"],
  ["5/10 * * * *"],
  ["0 24 * * *"],
  ["@daily"],
  ["0 L * * *"],
  ["0 0 * * * 30"],
])("leaves %s to the general search", (cron) => expect(dailyTimes(cron.split(" "))).toBeUndefined());
