// Every DAG that the file constructed, in order. The bundle of a DAG file has one copy of this module, so it is
// how the artifact finds what the file declared without the file having to export it.
import type { DagDefinition } from "./definition.ts";

const declared: DagDefinition[] = [];

export function register(dag: DagDefinition): void {
  declared.push(dag);
}

export function registeredDags(): readonly DagDefinition[] {
  return declared;
}
