import type { InputSpec, Json } from "../../spec/index.ts";
import { fieldAt } from "../../values/codec.ts";

/** A handler's argument. An upstream without a value, and a path that leads nowhere, leave their name out. */
export function resolveInputs(
  inputs: Readonly<Record<string, InputSpec>>,
  valueOf: (taskId: string) => Json | undefined,
): Record<string, Json> {
  const resolved: Record<string, Json> = {};
  for (const [name, input] of Object.entries(inputs)) {
    const value = input.kind === "literal" ? input.value : fieldAt(valueOf(input.taskId), input.path);
    if (value !== undefined) resolved[name] = value;
  }
  return resolved;
}
