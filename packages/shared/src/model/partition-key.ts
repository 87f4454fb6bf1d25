// From the partition key of an event to that of a run. Pure.
import type { AssetUseSpec, PartitionMapperSpec, PartitionSpec } from "@millrace/sdk/spec";
import { isMeant, type PresentAsset } from "./asset-condition.ts";

/** @throws Error that says what about the key cannot be mapped. */
export function runKeyOf(spec: PartitionSpec, asset: PresentAsset, key: string): string {
  const own = spec.mappers.find(({ use }: { readonly use: AssetUseSpec }) => isMeant(use, asset));
  const mapped = mapKey(own?.mapper ?? spec.mapper, key);
  if (mapped.trim() === "" || mapped.length > MAX_KEY)
    throw new Error(`"${mapped}" is no key of 1 to ${MAX_KEY} characters`);
  return mapped;
}

const MAX_KEY = 250;

export function mapKey(mapper: PartitionMapperSpec, key: string): string {
  switch (mapper.kind) {
    case "identity":
      return key;
    case "chain":
      return mapper.mappers.reduce((mapped, one) => mapKey(one, mapped), key);
    case "allowed":
      if (!mapper.keys.includes(key)) throw new Error(`"${key}" is not among the allowed keys`);
      return key;
    case "product": {
      const parts = key.split(mapper.delimiter);
      if (parts.length !== mapper.mappers.length) {
        throw new Error(`"${key}" has ${parts.length} parts, and ${mapper.mappers.length} are mapped`);
      }
      return mapper.mappers.map((one, i) => mapKey(one, parts[i] ?? "")).join(mapper.delimiter);
    }
    case "startOf": {
      const { unit, inputFormat = "%Y-%m-%dT%H:%M:%S", outputFormat = OUTPUT[unit] } = mapper;
      return format(startOf(unit, parse(inputFormat, key)), outputFormat);
    }
  }
}

type Unit = Extract<PartitionMapperSpec, { kind: "startOf" }>["unit"];

const OUTPUT: Readonly<Record<Unit, string>> = {
  hour: "%Y-%m-%dT%H",
  day: "%Y-%m-%d",
  week: "%Y-%m-%d (W%V)",
  month: "%Y-%m",
  quarter: "%Y-Q%q",
  year: "%Y",
};

const DIGITS: Readonly<Record<string, number>> = { Y: 4, m: 2, d: 2, H: 2, M: 2, S: 2 };

/** Of wall-clock time: keys have no zone. */
function parse(pattern: string, key: string): Date {
  const names: string[] = [];
  const source = pattern.replace(/%(.)|[^\w\s]/g, (whole, code: string | undefined) => {
    if (code === undefined || code === "%") return `\\${code ?? whole}`;
    const digits = DIGITS[code];
    if (digits === undefined)
      throw new Error(
        `%${code} is not read: use ${Object.keys(DIGITS)
          .map((c) => `%${c}`)
          .join(" ")}`,
      );
    names.push(code);
    return `(\\d{${digits}})`;
  });
  const found = new RegExp(`^${source}$`).exec(key);
  if (found === null) throw new Error(`"${key}" is not of the form ${pattern}`);
  const part = (code: string, otherwise: number) => {
    const at = names.indexOf(code);
    return at === -1 ? otherwise : Number(found[at + 1]);
  };
  const [month, day] = [part("m", 1), part("d", 1)];
  const date = new Date(Date.UTC(part("Y", 1970), month - 1, day, part("H", 0), part("M", 0), part("S", 0)));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) throw new Error(`"${key}" is no date`);
  return date;
}

const DAY_MS = 86_400_000;

function startOf(unit: Unit, date: Date): Date {
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  switch (unit) {
    case "hour":
      return new Date(Date.UTC(year, month, day, date.getUTCHours()));
    case "day":
      return new Date(Date.UTC(year, month, day));
    case "week":
      return new Date(Date.UTC(year, month, day - ((date.getUTCDay() + 6) % 7)));
    case "month":
      return new Date(Date.UTC(year, month, 1));
    case "quarter":
      return new Date(Date.UTC(year, month - (month % 3), 1));
    case "year":
      return new Date(Date.UTC(year, 0, 1));
  }
}

/** The ISO week: that of the Thursday. */
function weekOf(date: Date): number {
  const thursday = startOf("week", date).getTime() + 3 * DAY_MS;
  return 1 + Math.floor((thursday - Date.UTC(new Date(thursday).getUTCFullYear(), 0, 1)) / (7 * DAY_MS));
}

function format(date: Date, pattern: string): string {
  const two = (n: number) => String(n).padStart(2, "0");
  return pattern.replace(/%(.)/g, (_, code: string) => {
    switch (code) {
      case "Y":
        return String(date.getUTCFullYear()).padStart(4, "0");
      case "m":
        return two(date.getUTCMonth() + 1);
      case "d":
        return two(date.getUTCDate());
      case "H":
        return two(date.getUTCHours());
      case "M":
        return two(date.getUTCMinutes());
      case "S":
        return two(date.getUTCSeconds());
      case "V":
        return two(weekOf(date));
      case "q":
        return String(Math.floor(date.getUTCMonth() / 3) + 1);
      case "%":
        return "%";
      default:
        throw new Error(`%${code} is not written: use %Y %m %d %H %M %S %V %q`);
    }
  });
}
