// Why a deferred task instance still waits: what it waits for, who could end that, and whether it waits for itself.
import type { Condition } from "./conditions.ts";
import type { Situation, TaskSituation } from "./explain.ts";
import type { RunState } from "./run-state.ts";

/** A run that a deferred task waits for, as it stands. */
export interface AwaitedRun {
  readonly dagId: string;
  readonly runId: string;
  readonly state: RunState;
  readonly maxActiveRuns: number;
  readonly running: readonly string[];
  readonly lacksPool: string | null;
}

export function whyDeferred(s: Situation, ti: TaskSituation): readonly Condition[] {
  const until = ti.triggerTimeout;
  // Only a person ends it: no triggerer has anything to do.
  if (ti.trigger === "millrace.hitl") return [{ kind: "waits_for_answer", subject: ti.question, until }];
  const awaited = s.awaited.get(ti.id) ?? [];
  return [
    { kind: "waits_for_trigger", trigger: ti.trigger, until },
    ...awaited
      .filter(({ state }) => state === "queued" || state === "running")
      .flatMap((run): Condition[] => [
        { kind: "waits_for_run", dagId: run.dagId, runId: run.runId, state: run.state },
        ...waitsForItself(s, ti, run),
      ]),
    ...triggerersOf(s, ti),
  ];
}

/** The run that it waits for needs what only the end of its own run, or of its own wait, gives free. */
function waitsForItself({ dag, run }: Situation, ti: TaskSituation, awaited: AwaitedRun): Condition[] {
  const { dagId, runId, running, maxActiveRuns } = awaited;
  const holdsPlace =
    awaited.state === "queued" && dagId === dag.dagId && running.includes(run.runId) && running.length >= maxActiveRuns;
  const through = holdsPlace
    ? `maxActiveRuns of ${dagId}`
    : awaited.lacksPool === ti.pool
      ? `pool ${ti.pool}`
      : undefined;
  return through === undefined ? [] : [{ kind: "waits_for_itself", dagId, runId, through }];
}

function triggerersOf({ processes }: Situation, { triggerQueue }: TaskSituation): Condition[] {
  const serves = ({ queues }: { readonly queues: readonly string[] }) =>
    triggerQueue === null ? queues.length === 0 : queues.includes(triggerQueue);
  if (processes.triggerers.some(serves)) return [];
  return [{ kind: "no_live_triggerer", queue: triggerQueue }];
}
