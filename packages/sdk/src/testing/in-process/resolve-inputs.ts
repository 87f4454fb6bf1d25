import type { InputSpec, Json } from "../../spec/index.ts";

/** A handler's argument. An upstream without a value, and a path that leads nowhere, leave their name out. */
export function resolveInputs(
  inputs: Readonly<Record<string, InputSpec>>,
  valueOf: (taskId: string) => Json | undefined,
): Record<string, Json> {
  const resolved: Record<string, Json> = {};
  for (const [name, input] of Object.entries(inputs)) {
    const value = input.kind === "literal" ? input.value : follow(valueOf(input.taskId), input.path);
    if (value !== undefined) resolved[name] = value;
  }
  return resolved;
}

function follow(value: Json | undefined, path: readonly string[]): Json | undefined {
  let at = value;
  for (const step of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    // Just seen to have it as its own property.
    at = (at as Readonly<Record<string, Json>>)[step];
  }
  return at;
}
