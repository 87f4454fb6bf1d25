// What is handed on between tasks, runs and people: mapped lists, asset events, answers.
import type { Evidence, Invariant } from "./invariants.ts";
import type { TaskRow } from "./history.ts";

const runOf = (of: { readonly dagId: string; readonly runId: string }): string => `${of.dagId}/${of.runId}`;

function byRun(evidence: Evidence, dagId: string): TaskRow[][] {
  const runs = new Map<string, TaskRow[]>();
  for (const task of evidence.history.tasks) {
    if (task.dagId !== dagId || evidence.touched.has(runOf(task))) continue;
    runs.set(task.runId, [...(runs.get(task.runId) ?? []), task]);
  }
  return [...runs.values()];
}

/** One instance for each element, and what comes after them gets the value of each once, in their order. */
export const mapsAreWhole: Invariant = (evidence) =>
  byRun(evidence, "chaos_maps").flatMap((tasks) => {
    const named = (id: string) =>
      tasks.filter((task) => task.taskId === id).toSorted((a, b) => a.mapIndex - b.mapIndex);
    const [list] = named("list");
    const [total] = named("total");
    if (list?.state !== "success") return [];
    const each = named("each");
    const run = runOf(list);
    const length = (list.value as unknown[]).length; // the list that its handler gave
    const indexes = each.map((task) => task.mapIndex).join();
    if (indexes !== Array.from({ length }, (_, i) => i).join())
      return [`${run} has ${length} elements, and instances ${indexes}`];
    if (total?.state !== "success") return [];
    const values = JSON.stringify(each.map((task) => task.value));
    return JSON.stringify(total.value) === values
      ? []
      : [`${run} adds up ${JSON.stringify(total.value)}, and gave ${values}`];
  });

/** Each success of the producer is one event, and each event is a cause of one run of the consumer. */
export const eventsStartOneRun: Invariant = ({ history, deleted }) => {
  const successes = new Map<string, number>();
  for (const change of history.changes) {
    if (change.dagId !== "chaos_makes" || change.from !== "running" || change.to !== "success") continue;
    successes.set(runOf(change), (successes.get(runOf(change)) ?? 0) + 1);
  }
  const events = new Map<string, number>();
  for (const event of history.assetEvents) events.set(runOf(event), (events.get(runOf(event)) ?? 0) + 1);
  return [
    ...[...new Set([...successes.keys(), ...events.keys()])]
      .filter((run) => !deleted.has(run) && successes.get(run) !== events.get(run))
      .map((run) => `${run} succeeded ${successes.get(run) ?? 0} times, and left ${events.get(run) ?? 0} events`),
    ...history.assetEvents
      .filter((event) => event.runs !== 1)
      .map((event) => `event ${event.id} of ${runOf(event)} is a cause of ${event.runs} runs`),
  ];
};

/** A question takes one of the answers that were sent, and hands it on. */
export const answersAreTheGiven: Invariant = (evidence) =>
  byRun(evidence, "chaos_asks").flatMap((tasks) => {
    const asked = tasks.find((task) => task.taskId === "asked");
    const told = tasks.find((task) => task.taskId === "told");
    if (asked?.state !== "success") return [];
    // The answer's own shape, as the SDK documents it.
    const chosen = (asked.value as { readonly chosen_options: readonly string[] }).chosen_options;
    const sent = evidence.answers.get(runOf(asked)) ?? new Set();
    const found: string[] = [];
    if (!chosen.every((one) => sent.has(one)))
      found.push(`${runOf(asked)} was answered ${chosen.join()}, and only ${[...sent].join()} was sent`);
    if (told?.state === "success" && JSON.stringify(told.value) !== JSON.stringify(chosen))
      found.push(`${runOf(asked)} was answered ${chosen.join()}, and was told ${JSON.stringify(told.value)}`);
    return found;
  });
