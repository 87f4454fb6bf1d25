// Questions that a task asks people, and their answers.
import type { Json } from "../../spec/index.ts";

/** A question to people: what `hitl_detail` stores. */
export interface HitlRequest {
  readonly subject: string;
  readonly body?: string;
  readonly options: readonly string[];
  readonly defaults?: readonly string[];
  readonly multiple: boolean;
  /** By name: a JSON Schema with `default`, as the params of a DAG. */
  readonly params: Readonly<Record<string, Json>>;
  readonly assignedUsers: readonly { readonly id: string; readonly name: string }[];
}

/** The payload of the event with which a task that asked people resumes. */
export interface HitlResponse {
  readonly chosenOptions: readonly string[];
  readonly paramsInput: Readonly<Record<string, Json>>;
  readonly respondedAt: string;
  readonly respondedBy: { readonly id: string; readonly name: string } | null;
}
