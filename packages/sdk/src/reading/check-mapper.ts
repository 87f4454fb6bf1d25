import { checkOptions, oneOf, show, text, type Check } from "./checks.ts";

const mappers: Check = (value) =>
  Array.isArray(value) && value.length > 0
    ? value.map(wrongMapper).find((wrong) => wrong !== undefined)
    : "must be one mapper or more";

const keys: Check = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((key) => typeof key === "string")
    ? undefined
    : "must be one key or more";

const KINDS: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  identity: {},
  startOf: {
    unit: oneOf(["hour", "day", "week", "month", "quarter", "year"]),
    inputFormat: text,
    outputFormat: text,
  },
  product: { mappers, delimiter: text },
  chain: { mappers },
  allowed: { keys },
};

/** Mappers come from functions, but can be written by hand. */
export function wrongMapper(mapper: unknown): string | undefined {
  const kind = typeof mapper === "object" && mapper !== null && "kind" in mapper ? mapper.kind : undefined;
  const check = typeof kind === "string" && Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (check === undefined) {
    return `mapper must be sameKey(), startOf(…), productOf(…), chainOf(…) or allowedKeys(…), got ${show(mapper)}`;
  }
  const [wrong] = checkOptions(mapper, { kind: text, ...check });
  return wrong === undefined ? undefined : `mapper: ${wrong}`;
}
