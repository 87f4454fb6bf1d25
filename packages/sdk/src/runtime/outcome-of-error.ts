import { inspect } from "node:util";
import { FailTask, SkipTask } from "../errors/task-signals.ts";
import type { TaskError, TaskOutcome } from "./protocol.ts";

const MAX_MESSAGE = 16 * 1024;
const MAX_STACK = 64 * 1024;

/** What it means for the attempt that its handler threw this. */
export function outcomeOf(thrown: unknown): TaskOutcome {
  if (thrown instanceof SkipTask) return { kind: "skipped", message: storable(thrown.message, MAX_MESSAGE) };
  return { kind: "failed", retryable: !(thrown instanceof FailTask), error: describeError(thrown) };
}

/** Never throws, whatever was thrown: the getters of an error are user code, too. */
export function describeError(thrown: unknown): TaskError {
  try {
    if (!(thrown instanceof Error)) {
      return {
        name: "Error",
        message: storable(`a value that is no Error was thrown: ${inspect(thrown)}`, MAX_MESSAGE),
      };
    }
    const { name, message, stack } = thrown;
    return {
      name: storable(String(name), 250),
      message: storable(String(message), MAX_MESSAGE),
      ...(stack === undefined ? {} : { stack: storable(String(stack) + causes(thrown), MAX_STACK) }),
    };
  } catch {
    return { name: "Error", message: "the handler threw something that cannot be described" };
  }
}

/** The stacks of what led to an error, at most five deep. */
function causes(error: Error): string {
  let found = "";
  let cause: unknown = error.cause;
  for (let depth = 0; depth < 5 && cause !== undefined; depth++) {
    found += `\nCaused by: ${cause instanceof Error ? (cause.stack ?? String(cause)) : inspect(cause)}`;
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return found;
}

/** Text as Postgres can store it: no U+0000, no half surrogate pairs, and not without end. */
function storable(value: string, max: number): string {
  const short = value.length > max ? `${value.slice(0, max)}… (${value.length} characters)` : value;
  return short.replaceAll("\u0000", "\\0").replaceAll(/\p{Surrogate}/gu, "\uFFFD");
}
