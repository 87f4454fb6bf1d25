import {
  FINISHED_TASK_STATES,
  isFinished,
  OCCUPYING_TASK_STATES,
  RUN_STATES,
  RUN_TRANSITIONS,
  TASK_STATES,
  TASK_TRANSITIONS,
  type RunState,
  type TaskState,
} from "@millrace/shared/model";
import { code, heading, table } from "./page.ts";

interface Transition {
  readonly from: string;
  readonly to: string;
  readonly actor: string;
  readonly why: string;
}

const TASK_MEANINGS: Readonly<Record<TaskState, string>> = {
  none: "Nothing is decided yet. NULL in Postgres.",
  scheduled: "Every dependency is met; it waits for room under the limits.",
  queued: "Sent to a queue; no worker has claimed it yet.",
  running: "A worker has it and says every few seconds that it lives.",
  success: "Its handler ended, it was empty, or it was marked.",
  failed: "It ended without a try left, or was marked.",
  up_for_retry: "It failed and waits for its next try.",
  up_for_reschedule: "A sensor gave its slot back until its next poke.",
  deferred: "A trigger waits in its place; it holds no slot.",
  upstream_failed: "What it depends on failed, so it never ran.",
  skipped: "A branch, a trigger rule, its own handler or a user left it out.",
  removed: "Its run moved to a DAG version that does not have it.",
  restarting: "Cleared while a worker has it; it starts afresh when its process is gone.",
  shutdown: "Marked or stopped while a worker has it; it ends as marked when its process is gone.",
};

const RUN_MEANINGS: Readonly<Record<RunState, string>> = {
  queued: "It waits for room under max_active_runs, and for a task that can go.",
  running: "Its tasks are being scheduled.",
  success: "Every leaf succeeded or was skipped.",
  failed: "A leaf failed, nothing could go on, it timed out, or it was marked.",
};

/** Each edge once, with the actors that share it. A user's marks and clears would hide the rest: they are in the table. */
function diagram(
  transitions: readonly Transition[],
  start: string,
  ends: readonly string[],
  isDrawn: (t: Transition) => boolean,
): string {
  const edges = new Map<string, Set<string>>();
  for (const t of transitions.filter(isDrawn)) {
    const edge = `${t.from} --> ${t.to}`;
    edges.set(edge, (edges.get(edge) ?? new Set()).add(t.actor));
  }
  const lines = [
    `[*] --> ${start}`,
    ...[...edges].map(([edge, actors]) => `${edge}: ${[...actors].join(", ")}`),
    ...ends.map((end) => `${end} --> [*]`),
  ];
  return `\`\`\`mermaid\nstateDiagram-v2\n${lines.map((line) => `  ${line}\n`).join("")}\`\`\`\n`;
}

/** One row for the edges that go to one state for one reason. */
function transitionTable(transitions: readonly Transition[]): string {
  const rows = new Map<string, { from: string[]; t: Transition }>();
  for (const t of transitions) {
    const key = `${t.to}\n${t.actor}\n${t.why}`;
    const row = rows.get(key);
    if (row === undefined) rows.set(key, { from: [t.from], t });
    else row.from.push(t.from);
  }
  return table(
    ["From", "To", "By", "When"],
    [...rows.values()].map(({ from, t }) => [from.map(code).join(" "), code(t.to), t.actor, t.why]),
  );
}

export function statesPage(): string {
  const occupying = new Set<string>(OCCUPYING_TASK_STATES);
  const states = TASK_STATES.map((state) => [
    code(state),
    TASK_MEANINGS[state],
    isFinished(state) ? "yes" : "",
    occupying.has(state) ? "yes" : "",
  ]);
  return [
    heading(
      "States",
      "packages/shared/src/model/task-state.ts and run-state.ts",
      "Postgres refuses every change of state that is not listed here, whoever makes it, and writes each accepted one to `task_instance_transition` or `dag_run_transition`. Each change of a task instance raises its `epoch` by one.",
    ),
    "## Task instances\n",
    table(["State", "Meaning", "Finished", "Holds a slot"], states),
    "The diagram leaves out what users do: they mark and clear from every state, as the table below says.\n",
    diagram(
      TASK_TRANSITIONS,
      "none",
      FINISHED_TASK_STATES,
      (t) => t.actor !== "user" || t.to === "restarting" || t.to === "shutdown",
    ),
    transitionTable(TASK_TRANSITIONS),
    "## Runs\n",
    table(
      ["State", "Meaning"],
      RUN_STATES.map((state) => [code(state), RUN_MEANINGS[state]]),
    ),
    diagram(RUN_TRANSITIONS, "queued", ["success", "failed"], () => true),
    transitionTable(RUN_TRANSITIONS),
  ].join("\n");
}
