import type { AssetConditionSpec, ScheduleSpec } from "@millrace/sdk/spec";

/** A schedule in words for a list: the cron itself, or what it is. */
export function summarizeSchedule(schedule: ScheduleSpec): string {
  switch (schedule.kind) {
    case "cron":
    case "cronTrigger":
      return schedule.cron;
    case "multipleCron":
      return schedule.crons.join(", ");
    case "delta":
      return `every ${schedule.seconds} s`;
    case "events":
      return schedule.summary ?? `${schedule.events.length} events`;
    case "custom":
      return schedule.summary;
    case "assets":
      return schedule.partition === undefined
        ? summarizeAssets(schedule.assets)
        : `each key of ${summarizeAssets(schedule.assets)}`;
    case "assetOrTime":
      return `assets or ${summarizeSchedule(schedule.time)}`;
    case "once":
    case "continuous":
      return `@${schedule.kind}`;
    case "none":
      return "None";
  }
}

const MAX_SHOWN = 200;

/** `orders & (refunds | returns)`, cut when it would not fit into a list. */
function summarizeAssets(condition: AssetConditionSpec): string {
  const whole = sayCondition(condition);
  return whole.length > MAX_SHOWN ? `${whole.slice(0, MAX_SHOWN)}…` : whole;
}

export function sayCondition(condition: AssetConditionSpec, isInner = false): string {
  if ("asset" in condition) return condition.asset.name;
  if ("alias" in condition) return condition.alias.name;
  if ("ref" in condition) return condition.ref.name ?? condition.ref.uri ?? "";
  const [sign, parts] = "all" in condition ? [" & ", condition.all] : [" | ", condition.any];
  const said = parts.map((part) => sayCondition(part, true)).join(sign);
  return isInner && parts.length > 1 ? `(${said})` : said;
}
