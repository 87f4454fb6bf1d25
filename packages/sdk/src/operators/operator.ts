import type { BranchKind, ExternalTaskMarkerSpec, Json, StartTriggerSpec } from "../spec/index.ts";
import type { RenderedFields, TemplateField } from "../templates/render-fields.ts";
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
  /** Only with `branch: "short_circuit"`: whether to go on. Default: the truth of the value. */
  readonly goesOn?: (value: unknown) => boolean;
  /** The task begins with this wait. */
  readonly startTrigger?: StartTriggerSpec;
  readonly externalTaskMarker?: ExternalTaskMarkerSpec;
  /** What is wrong with the operator's options; reported when the DAG is read. */
  readonly problems?: readonly string[];
  /** Options that are templates, or functions of the context and the inputs. Rendered right before `run`. */
  readonly fields?: Readonly<Record<string, TemplateField>>;
  /**
   * Gives the task's value, or a `Pause` when it goes on later.
   *
   * @param fields what came of `fields`; nothing in an attempt that resumes after a wait
   */
  readonly run: (inputs: Readonly<Record<string, Json>>, scope: RunScope, fields: RenderedFields) => unknown;
  /** The part of the task that runs in a triggerer, for the trigger `sensor.poke`. Gives the task's value. */
  readonly watch?: (kwargs: Readonly<Record<string, Json>>, scope: RunScope) => Promise<unknown>;
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
