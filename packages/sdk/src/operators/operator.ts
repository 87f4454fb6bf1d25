import type { BranchKind, Json } from "../spec/index.ts";
import type { RunScope } from "../runtime/run-scope.ts";

/** Phantom: the argument and the value of an operator. Never present at run time. */
declare const SIGNATURE: unique symbol;

/** What a task does when it runs, whether it came as a plain handler or as an operator. */
export interface OperatorDefinition {
  /** `task` for a plain handler. Shown in the UI. */
  readonly name: string;
  readonly branch?: BranchKind;
  /** Only with `branch: "short_circuit"`. */
  readonly ignoreDownstreamTriggerRules?: boolean;
  readonly run: (inputs: Readonly<Record<string, Json>>, scope: RunScope) => unknown;
}

/**
 * Goes where a handler goes: `dag.task("fetch", bash("…"))`. Built by the functions of `@millrace/sdk/operators`.
 * `A` is the argument that the factory asks for, `R` the value that downstream tasks see.
 */
export class Operator<A extends object, R> {
  declare readonly [SIGNATURE]: (args: A) => R;
  readonly definition: OperatorDefinition;

  constructor(definition: OperatorDefinition) {
    this.definition = definition;
  }
}
