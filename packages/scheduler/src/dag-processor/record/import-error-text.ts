import type { DagProblem } from "@millrace/sdk/runtime";
import { formatProblem, type FileProblem } from "../bundle/dag-bundle.ts";

/** `lib/x.ts:3:5` of a mapped stack: the user's line nearest to the problem. */
const PLACE = /^\s+at (?:.*\()?([^()\s]+:\d+:\d+)\)?$/m;

/** Problems of a DAG that was read, each with its place in the source: `hello.ts:3:5: message`. */
export function dagProblemsText(dagId: string, problems: readonly DagProblem[]): string {
  return problems
    .map(({ message, stack }) => {
      const place = PLACE.exec(stack ?? "")?.[1];
      const named = message.includes(`"${dagId}"`) ? message : `DAG "${dagId}": ${message}`;
      return place === undefined ? named : `${place}: ${named}`;
    })
    .join("\n");
}

/** Problems of a file that could not be bundled; `folder` is that of the file, relative to the DAG folder. */
export const fileProblemsText = (folder: string, problems: readonly FileProblem[]): string =>
  problems
    .map((problem) =>
      formatProblem(
        problem.file === undefined || folder === "." ? problem : { ...problem, file: `${folder}/${problem.file}` },
      ),
    )
    .join("\n");
