import { Cron } from "croner";
import fc from "fast-check";
import { expect, test } from "vitest";
import { naiveTicks } from "./naive-ticks.ts";

test("the ticks are croner's, for any fields", () => {
  const field = (...values: string[]) => fc.constantFrom("*", ...values);
  const fields = fc.tuple(
    field("0", "*/7", "5-50/9", "59", "1,30"),
    field("0", "*/5", "23", "1-3", "0,12"),
    field("1", "L", "31", "*/10", "28-31"),
    field("2", "FEB", "3,10-11"),
    field("sun", "1-5", "7", "SAT#1", "5L"),
  );
  const second = fc.option(field("0", "*/13", "59", "10-20"), { nil: undefined });
  const instant = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2030, 0, 1) });
  fc.assert(
    fc.property(fields, second, instant, (five, sixth, from) => {
      const croner = new Cron(`${sixth ?? "0"} ${five.join(" ")}`, {
        timezone: "UTC",
        sloppyRanges: true,
        paused: true,
      });
      const ticks = naiveTicks(sixth === undefined ? five : [...five, sixth]);
      let at: number | undefined = from;
      for (let i = 0; i < 4 && at !== undefined; i++) {
        const next = ticks.next(at);
        expect(next).toBe(croner.nextRun(new Date(at))?.getTime());
        at = next;
      }
    }),
    { numRuns: 400 },
  );
});
