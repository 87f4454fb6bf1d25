import type { DagProblem } from "../runtime/protocol.ts";

/** A DAG that cannot be read. Has every problem at once, each with the place in the file that caused it. */
export class DagDefinitionError extends Error {
  override readonly name: string = "DagDefinitionError";
  readonly dagId: string;
  readonly problems: readonly DagProblem[];

  constructor(dagId: string, problems: readonly DagProblem[]) {
    super(`DAG "${dagId}" cannot be read:\n${problems.map((problem) => `- ${problem.message}`).join("\n")}`);
    this.dagId = dagId;
    this.problems = problems;
  }
}
