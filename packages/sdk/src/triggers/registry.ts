// Every trigger that the file defined. As for DAGs, the bundle's one copy of this module is how the artifact finds them.
import type { TriggerContext } from "./trigger-context.ts";

export interface TriggerCode {
  readonly name: string;
  readonly run: (kwargs: never, context: TriggerContext) => unknown;
}

const defined = new Map<string, TriggerCode>();

/** @throws TypeError when the name is taken */
export function registerTrigger(code: TriggerCode): void {
  if (defined.has(code.name)) {
    throw new TypeError(`the trigger "${code.name}" is defined twice in this file: names of triggers are unique`);
  }
  defined.set(code.name, code);
}

export function registeredTriggers(): ReadonlyMap<string, TriggerCode> {
  return defined;
}
