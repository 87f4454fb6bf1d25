import { describe, expect, it } from "vitest";
import { cron, cronTrigger, every, type ScheduleSpec } from "../index.ts";
import { readSchedule } from "./read-schedule.ts";

function read(schedule: unknown): ScheduleSpec | string {
  const problems: string[] = [];
  const spec = readSchedule(schedule, (message) => problems.push(message));
  return problems.length > 0 ? problems.join("\n") : spec;
}

const UTC = { timezone: "UTC", dst: { gap: "shift", fold: "first" } };

describe("schedules", () => {
  it.each([
    [undefined, { kind: "none" }],
    [null, { kind: "none" }],
    ["@once", { kind: "once" }],
    ["@continuous", { kind: "continuous" }],
    ["@hourly", { kind: "cron", cron: "0 * * * *", ...UTC }],
    ["@daily", { kind: "cron", cron: "0 0 * * *", ...UTC }],
    ["@weekly", { kind: "cron", cron: "0 0 * * 0", ...UTC }],
    ["@monthly", { kind: "cron", cron: "0 0 1 * *", ...UTC }],
    ["@quarterly", { kind: "cron", cron: "0 0 1 */3 *", ...UTC }],
    ["@yearly", { kind: "cron", cron: "0 0 1 1 *", ...UTC }],
    [" 5 4 * * 1-5 ", { kind: "cron", cron: "5 4 * * 1-5", ...UTC }],
    ["5 4 * * * 30", { kind: "cron", cron: "5 4 * * * 30", ...UTC }],
    [every({ hours: 1, minutes: 30 }), { kind: "delta", seconds: 5400 }],
    [every({ weeks: 1, days: 1, seconds: 1 }), { kind: "delta", seconds: 691_201 }],
    [
      cron("0 2 * * *", { timezone: "Europe/Berlin", dst: { fold: "both" } }),
      { kind: "cron", cron: "0 2 * * *", timezone: "Europe/Berlin", dst: { gap: "shift", fold: "both" } },
    ],
    [cronTrigger("0 2 * * *"), { kind: "cronTrigger", cron: "0 2 * * *", ...UTC }],
  ])("reads %j", (schedule, expected) => {
    expect(read(schedule)).toEqual(expected);
  });

  it.each([
    ["@dayly", /^schedule must be one of .*got "@dayly"; did you mean "@daily"\?$/],
    ["* * * *", /^schedule "\* \* \* \*" must have 5 cron fields \(or 6, with seconds last\), got 4$/],
    ["", /got 0$/],
    ["* * * * * * *", /got 7$/],
    [every({}), /^schedule: seconds must be a number of seconds, positive, got 0$/],
    [every({ minutes: Number.NaN }), /got NaN$/],
    [cron("1 2 3"), /^schedule: cron "1 2 3" must have 5 cron fields/],
    [
      cronTrigger("0 0 * * *", { timezone: "Mars/Olympus" }),
      /^schedule: timezone must be an IANA zone .*got "Mars\/Olympus"$/,
    ],
    [
      cron("0 0 * * *", { dst: { gap: "jump" as never } }),
      /^schedule: dst: gap must be one of "shift", "skip", got "jump"$/,
    ],
    [{ kind: "delta" }, /^schedule: seconds is missing$/],
    [{ kind: "often" }, /^schedule must be a preset/],
    [5, /^schedule must be a preset.*got 5$/],
  ])("refuses %j", (schedule, message) => {
    expect(read(schedule)).toMatch(message);
  });
});
