// What a DAG file has declared so far, before anything is checked. Dag, TaskGroup and TaskRef write it;
// reading/ turns it into a DagSpec or into the list of everything that is wrong with it.
import type { DagReadResult } from "../reading/read-dag.ts";
import type { OperatorDefinition } from "../operators/operator.ts";
import type { CallSite } from "./call-site.ts";

export interface TaskNode {
  readonly kind: "task";
  readonly id: string;
  readonly dag: DagDefinition;
  readonly group: GroupNode | undefined;
  readonly body: OperatorDefinition;
  readonly options: unknown;
  readonly declaredAt: CallSite;
  /** Set by the call of the factory. */
  placement: { readonly inputs: unknown; readonly at: CallSite; readonly mapping?: MappingGiven } | undefined;
  isSetup: boolean;
  isTeardown: boolean;
  onFailureFailDagrun: boolean;
  /** Set when the task's value decides an `if` or a `switch`. */
  decision: Decision | undefined;
}

/** What was given to `expand` or `expandKwargs`. */
export type MappingGiven =
  | { readonly kind: "expand"; readonly lists: unknown }
  | { readonly kind: "expandKwargs"; readonly list: unknown; readonly strict: boolean };

export interface GroupNode {
  readonly kind: "group";
  readonly id: string;
  readonly dag: DagDefinition;
  readonly parent: GroupNode | undefined;
  readonly options: unknown;
  readonly declaredAt: CallSite;
  /** Set when the group is mapped. */
  mapping: { readonly given: MappingGiven; readonly at: CallSite } | undefined;
}

export type Node = TaskNode | GroupNode;

export interface Edge {
  readonly from: Node;
  readonly to: Node;
  readonly at: CallSite;
}

export interface Decision {
  readonly kind: "if" | "switch";
  readonly at: CallSite;
  /** For an `if`: what runs on `true`. For a `switch`: every case. */
  readonly arms: Node[];
  /** For an `if`: what runs on `false`. */
  readonly otherwise: Node[];
}

export interface ReportedProblem {
  readonly message: string;
  readonly at: CallSite;
}

export interface DagDefinition {
  readonly id: string;
  readonly options: unknown;
  readonly declaredAt: CallSite;
  readonly tasks: TaskNode[];
  readonly groups: GroupNode[];
  readonly edges: Edge[];
  /** Found while the file was being run; the rest is found when the DAG is read. */
  readonly problems: ReportedProblem[];
  /** The last reading, until the next change. */
  reading: DagReadResult | undefined;
}

/** To be called with every change, so that what was read before it is not taken for the DAG of today. */
export function change(dag: DagDefinition): void {
  dag.reading = undefined;
}
