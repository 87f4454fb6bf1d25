// What a DAG waits for before it gets its next run, as values, and the sentence for each.

export type DagCondition =
  | { readonly kind: "dag_gone" }
  | { readonly kind: "dag_unreadable" }
  | { readonly kind: "dag_is_full"; readonly of: number; readonly active: readonly string[] }
  | { readonly kind: "schedule_fails"; readonly cause: string }
  | { readonly kind: "no_schedule" }
  | { readonly kind: "schedule_over" }
  | { readonly kind: "next_run"; readonly until: number }
  | { readonly kind: "dag_gets_run" }
  /** With `key`: those of one partition. */
  | { readonly kind: "assets_have_come"; readonly key?: string }
  | { readonly kind: "assets_awaited"; readonly condition: string }
  | { readonly kind: "asset_has_come"; readonly asset: string; readonly since: number }
  | {
      readonly kind: "asset_awaited";
      readonly asset: string;
      readonly isAlias: boolean;
      readonly isKnown: boolean;
      readonly lastEventAt: number | null;
      /** The run of the DAG that has its last event. */
      readonly lastRunId: string | null;
      /** Its last event does not count because of this: the DAG runs by key and it has none (null), or the other way round. */
      readonly wrongKey?: string | null;
      readonly producers: readonly { readonly dagId: string; readonly taskId: string; readonly isPaused: boolean }[];
      readonly watchers: readonly string[];
    }
  | {
      readonly kind: "key_awaits_assets";
      readonly key: string;
      readonly since: number;
      readonly missing: readonly string[];
    };

export function describeDagCondition(c: DagCondition): string {
  switch (c.kind) {
    case "dag_gone":
      return "its file no longer has it: it gets no runs";
    case "dag_unreadable":
      return "its file has an error, so that it gets no runs: see `millrace dags list-import-errors`";
    case "dag_is_full":
      return `maxActiveRuns is used up: ${c.active.length} of ${c.of} are queued or running (${some(c.active)}); what comes meanwhile is kept`;
    case "schedule_fails":
      return `its schedule fails: ${c.cause}`;
    case "no_schedule":
      return "it has no schedule: it runs when it is triggered";
    case "schedule_over":
      return "its schedule has no further run";
    case "next_run":
      return `its next run is due at ${at(c.until)}`;
    case "dag_gets_run":
      return "nothing holds it: it gets a run with the scheduler's next pass";
    case "assets_have_come":
      return c.key === undefined
        ? "all assets that it waits for have come"
        : `all that key ${c.key} waits for has come`;
    case "assets_awaited":
      return `it waits for ${c.condition}`;
    case "asset_has_come":
      return `${c.asset} has come: an event waits since ${at(c.since)}`;
    case "asset_awaited":
      return sayAwaited(c);
    case "key_awaits_assets":
      return `key ${c.key}, for which something came at ${at(c.since)}, waits for ${c.missing.join(", ")}`;
  }
}

function sayAwaited(c: Extract<DagCondition, { kind: "asset_awaited" }>): string {
  const name = c.isAlias ? `alias ${c.asset}` : c.asset;
  const isStrange = !c.isKnown && !c.isAlias;
  if (isStrange && c.lastEventAt === null) {
    return `${name} is missing: no DAG declares such an asset, so that nothing updates it`;
  }
  const last =
    c.lastEventAt === null
      ? c.isAlias
        ? "no task has said yet what it stands for"
        : "it never had an event"
      : `its last event, at ${at(c.lastEventAt)}, ${fateOf(c)}`;
  return `${name} is missing: ${last}; ${sourceOf(c)}`;
}

const fateOf = (c: Extract<DagCondition, { kind: "asset_awaited" }>): string =>
  c.lastRunId !== null
    ? `is in run ${c.lastRunId}`
    : c.wrongKey === null
      ? "has no partition key, and the DAG runs by key"
      : c.wrongKey !== undefined
        ? `has partition key ${c.wrongKey}, and the DAG does not run by key`
        : "was not for this DAG, which was paused or did not wait for it then";

function sourceOf({ producers, watchers, isAlias }: Extract<DagCondition, { kind: "asset_awaited" }>): string {
  const tasks = producers.map(({ dagId, taskId, isPaused }) => `${dagId}.${taskId}${isPaused ? " (paused)" : ""}`);
  const parts = [
    ...(tasks.length === 0 ? [] : [`updated by ${some(tasks)}`]),
    ...(watchers.length === 0 ? [] : [`watched by ${some(watchers)}`]),
  ];
  if (parts.length > 0) return `it is ${parts.join(" and ")}`;
  return isAlias
    ? "tasks that have it as an outlet say so"
    : "no task updates it, so that its events come through the API";
}

const at = (instant: number): string => new Date(instant).toISOString().replace(/\.\d+Z$/, "Z");
const SHOWN = 5;
const some = (names: readonly string[]): string =>
  names.length <= SHOWN ? names.join(", ") : `${names.slice(0, SHOWN).join(", ")} and ${names.length - SHOWN} more`;
