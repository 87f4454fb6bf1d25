// What a trigger came to, before it is stored: an event that is no JSON, that Postgres cannot keep or that is larger than
// an XCom in Postgres may be fails its trigger by name. User code made it, so nothing of its shape is taken for granted.
// Nothing of it goes to the object store: a triggerer writes the events of thousands of waits in batches, and a store that
// is slow or away must not hold up those of others.
import type { TriggerOutcome } from "@millrace/sdk/runtime";
import { isReference } from "@millrace/shared/xcoms";
import { failed } from "./trigger.ts";

/** An escape of JSON that jsonb refuses: U+0000, or half of a surrogate pair. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89ab][0-9a-f]{2})/i;

const ENDS = ["success", "failed", "skipped"];

export function checkOutcome(name: string, outcome: TriggerOutcome, maxBytes: number): TriggerOutcome {
  switch (outcome?.kind) {
    case "failed":
      return outcome;
    case "event":
      return checkValue(name, "its event", outcome.payload, outcome, maxBytes);
    case "end":
      if (!ENDS.includes(outcome.state)) {
        return failed("TriggerOutcome", `trigger ${name} ended its task as ${String(outcome.state)}, which is no end`);
      }
      if (isReference(outcome.value)) {
        return failed(
          "TriggerOutcome",
          `trigger ${name} ended with a reference to a stored value: give the value itself`,
        );
      }
      return outcome.value === undefined ? outcome : checkValue(name, "the value", outcome.value, outcome, maxBytes);
    default:
      return failed("TriggerOutcome", `trigger ${name} gave neither an event nor an end`);
  }
}

function checkValue(
  name: string,
  what: string,
  value: unknown,
  whole: TriggerOutcome,
  maxBytes: number,
): TriggerOutcome {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch (error) {
    return failed("TriggerEventNotJson", `trigger ${name}: ${what} cannot be written as JSON: ${String(error)}`);
  }
  if (json === undefined) return failed("TriggerEventNotJson", `trigger ${name}: ${what} is no JSON value`);
  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes) {
    return failed(
      "TriggerEventTooLarge",
      `trigger ${name}: ${what} has ${bytes} bytes of JSON, and core.max_xcom_bytes allows ${maxBytes}: triggers store nothing in the object store. Give where it is, and fetch it in the task`,
    );
  }
  if (UNSTORABLE.test(json)) {
    return failed(
      "TriggerEventNotJson",
      `trigger ${name}: ${what} contains the character U+0000 or half of a surrogate pair, which Postgres cannot store`,
    );
  }
  return whole;
}
