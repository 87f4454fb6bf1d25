import { describe, expect, it } from "vitest";
import { cron, cronTrigger, defineTimetable, events, every, multipleCron, type ScheduleSpec } from "../index.ts";
import { readSchedule } from "./read-schedule.ts";

function read(schedule: unknown, timezone = "UTC"): ScheduleSpec | string {
  const problems: string[] = [];
  const spec = readSchedule(schedule, timezone, (message) => problems.push(message));
  return problems.length > 0 ? problems.join("\n") : spec;
}

const UTC = { timezone: "UTC", dst: { gap: "shift", fold: "first" } };

const ended = (): null => null;

class Fortnightly {
  readonly summary = "every other Friday";
  next(): null {
    return null;
  }
}

describe("schedules", () => {
  it("take the DAG's zone unless they name their own", () => {
    expect(read("@daily", "Asia/Tokyo")).toMatchObject({ timezone: "Asia/Tokyo" });
    expect(read("0 5 * * *", "Asia/Tokyo")).toMatchObject({ timezone: "Asia/Tokyo" });
    expect(read(cron("0 5 * * *"), "Asia/Tokyo")).toMatchObject({ timezone: "Asia/Tokyo" });
    expect(read(multipleCron(["0 5 * * *"]), "Asia/Tokyo")).toMatchObject({ timezone: "Asia/Tokyo" });
    expect(read(cron("0 5 * * *", { timezone: "Europe/Rome" }), "Asia/Tokyo")).toMatchObject({
      timezone: "Europe/Rome",
    });
  });

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
    [
      cronTrigger("0 2 * * *", { interval: { hours: 2 } }),
      { kind: "cronTrigger", cron: "0 2 * * *", intervalSeconds: 7200, ...UTC },
    ],
    [
      multipleCron(["0 9 * * 1-5", "0 12 * * sat"]),
      { kind: "multipleCron", crons: ["0 9 * * 1-5", "0 12 * * sat"], ...UTC },
    ],
    [
      events(["2026-03-01T12:00:00+02:00", new Date("2026-01-01T00:00:00Z"), "2026-03-01T10:00:00Z"], {
        summary: "two",
      }),
      {
        kind: "events",
        events: ["2026-01-01T00:00:00.000Z", "2026-03-01T10:00:00.000Z"],
        restrictToEvents: false,
        summary: "two",
      },
    ],
    [defineTimetable({ name: "mine", next: () => null }), { kind: "custom", name: "mine", summary: "mine" }],
    [new Fortnightly(), { kind: "custom", name: "Fortnightly", summary: "every other Friday" }],
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
    [multipleCron([]), /^schedule: crons must be an array of one or more cron expressions, got none$/],
    [multipleCron(["0 0 * * *", "1 2"]), /^schedule: crons "1 2" must have 5 cron fields/],
    [events([]), /^schedule: events must be an array of one or more dates, got none$/],
    [events(["2026-06-11T20:00"]), /^schedule: events must hold .* with an offset .*got "2026-06-11T20:00"$/],
    [events([new Date(Number.NaN)]), /got an invalid Date$/],
    [events(["2026-02-31T25:00:00Z"]), /got "2026-02-31T25:00:00Z"$/],
    [{ next: ended }, /^schedule: the timetable's name is missing$/],
    [{ name: "", next: ended }, /^schedule: the timetable's name must be a string of 1 to 250 characters/],
    [{ name: "x", next: ended, infer: 5 }, /^schedule: the timetable's infer must be a function$/],
    [{ kind: "delta" }, /^schedule: seconds is missing$/],
    [{ kind: "often" }, /^schedule must be a preset/],
    [5, /^schedule must be a preset.*got 5$/],
  ])("refuses %j", (schedule, message) => {
    expect(read(schedule)).toMatch(message);
  });
});
