import type { DagSpec } from "@millrace/sdk/spec";
import { intervalOf, type RecordedDag } from "@millrace/shared/db";
import { boundsOf, countDueRuns, pointerFor } from "@millrace/shared/model";

/** As many are no surprise. */
const FEW_RUNS = 100;

/** Says how many runs a catchup has to create before it has caught up; they are counted, not created. */
export function catchupWarnings(spec: DagSpec, state: RecordedDag | undefined): Readonly<Record<string, string>> {
  if (spec.catchup !== true || state === undefined) return {};
  const first = pointerFor(spec, intervalOf(state.lastStart, state.lastEnd), state.now.getTime());
  const { count, isExact } = countDueRuns(spec, first, state.now.getTime());
  if (count <= FEW_RUNS) return {};
  const { earliest } = boundsOf(spec);
  const since = new Date(first?.logicalDate ?? earliest ?? 0).toISOString().slice(0, 10);
  const number = `${isExact ? "" : "about "}${count.toLocaleString("en-US")}`;
  return {
    "far catchup": `catchup: true has ${number} runs to create since ${since}, the oldest first. Set a later startDate, or catchup: false for the latest alone, if that is not meant; \`millrace dags preview ${spec.dagId}\` shows them.`,
  };
}
