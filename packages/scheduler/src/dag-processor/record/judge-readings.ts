// Whether what a file declares can be scheduled. What one DAG alone can tell about itself the SDK has checked already.
import type { DagReading } from "@millrace/sdk/runtime";
import type { DagSpec } from "@millrace/sdk/spec";
import { pointerFor } from "@millrace/shared/model";
import { messageOf } from "@millrace/shared/errors";
import { checkDefaults } from "@millrace/shared/params";
import { dagProblemsText } from "./import-error-text.ts";

export type Judgement = { readonly specs: readonly DagSpec[] } | { readonly problems: string };

export function judgeReadings(readings: readonly DagReading[]): Judgement {
  const texts: string[] = [];
  const specs = new Map<string, DagSpec>();
  for (const reading of readings) {
    if ("problems" in reading) {
      texts.push(dagProblemsText(reading.dagId, reading.problems));
      continue;
    }
    if (specs.has(reading.dagId)) texts.push(`DAG "${reading.dagId}" is declared twice in this file.`);
    texts.push(...scheduleProblems(reading.spec));
    texts.push(...checkDefaults(reading.spec).map((problem) => `DAG "${reading.dagId}": param ${problem}.`));
    specs.set(reading.dagId, reading.spec);
  }
  return texts.length > 0 ? { problems: texts.join("\n") } : { specs: [...specs.values()] };
}

function scheduleProblems(spec: DagSpec): string[] {
  if (spec.schedule.kind === "continuous" && (spec.maxActiveRuns ?? 1) > 1) {
    return [
      `DAG "${spec.dagId}": a continuous schedule has one run at a time, so maxActiveRuns must be 1, not ${spec.maxActiveRuns}.`,
    ];
  }
  try {
    pointerFor(spec, undefined, 0);
    return [];
  } catch (error) {
    return [`DAG "${spec.dagId}": ${messageOf(error)}`];
  }
}
