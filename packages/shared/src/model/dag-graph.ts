// A DAG's structure in the form that decisions need: for each task what it must see before it can be decided
// (watches), and whom it concerns when it changes (watchedBy). Looking only at watchedBy of what changed gives the
// same decisions as looking at the whole run, because a decision reads nothing but its watches. Pure; made once a version.
import type { DagSpec, MappingSpec, TaskSpec } from "@millrace/sdk/spec";
import { laneOf } from "./lane.ts";
import { mappedOver, type MappedOver } from "./mapping.ts";
import { weigher } from "./priority-weight.ts";
import { reach } from "./reach.ts";

export interface TaskNode {
  readonly spec: TaskSpec;
  readonly upstream: readonly string[];
  readonly downstream: readonly string[];
  /** Short-circuit tasks upstream at any distance whose decision skips this one whatever its trigger rule. */
  readonly shortCircuits: readonly string[];
  /** Setups upstream at two steps or more whose work this task stands on. */
  readonly indirectSetups: readonly string[];
  /** Only for a teardown: every task between its setups and it; all must have ended. */
  readonly teardownScope: readonly string[];
  /** The task is expanded into instances: by its own mapping, or by that of the group around it. */
  readonly mapping?: MappingSpec;
  /** The mapped group around it: what it depends on there has the same index. */
  readonly mapGroup?: string;
  /** The parts of its value over which tasks are mapped. */
  readonly listPaths: readonly (readonly string[])[];
  readonly watches: readonly string[];
  readonly watchedBy: readonly string[];
  readonly priorityWeight: number;
  readonly lane: string;
  /** Its place in an order in which each task comes after all that are upstream of it. */
  readonly rank: number;
  /** An effective leaf: its state counts for the run's verdict. */
  readonly isLeaf: boolean;
}

export interface DagGraph {
  readonly spec: DagSpec;
  readonly tasks: ReadonlyMap<string, TaskNode>;
  readonly leaves: readonly string[];
  /** The most instances into which one task may be expanded. */
  readonly maxMapLength: number;
  /** Whether any task is mapped. */
  readonly isMapped: boolean;
  /** Tasks that look at the run before. */
  readonly pastTasks: readonly string[];
}

export const DEFAULT_MAX_MAP_LENGTH = 1_024;

export function buildDagGraph(spec: DagSpec, maxMapLength = DEFAULT_MAX_MAP_LENGTH): DagGraph {
  const specs = new Map(spec.tasks.map((task) => [task.taskId, task]));
  const down = new Map(spec.tasks.map((task) => [task.taskId, [] as string[]]));
  for (const task of spec.tasks) for (const id of task.upstream) down.get(id)?.push(task.taskId);
  const downstreamOf = (id: string): readonly string[] => down.get(id) ?? [];
  const upstreamOf = (id: string): readonly string[] => specs.get(id)?.upstream ?? [];
  const specOf = (id: string): TaskSpec | undefined => specs.get(id);

  const ancestors = reach([...specs.keys()], upstreamOf);
  const descendants = reach([...specs.keys()], downstreamOf);
  // A task is found after everything upstream of it.
  const ranks = new Map(ancestors.order.map((id, rank) => [id, rank]));
  // Only these concern what is not directly downstream of them; most DAGs have none.
  const farReaching = spec.tasks.filter((task) => task.isSetup || task.branch === "short_circuit");

  const weigh = weigher(ancestors, descendants, specOf);

  const mappingOfGroup = new Map(spec.groups.map((group) => [group.groupId, group.mapping]));
  const mappingOf = (task: TaskSpec) => task.mapping ?? mappingOfGroup.get(task.mapGroupId ?? "");
  const listPaths = pathsOfLists(spec.tasks.flatMap((task) => mappingOf(task) ?? []));

  const leaves = effectiveLeaves(spec.tasks, downstreamOf, specOf);
  const watchedBy = new Map<string, string[]>();
  const partial = spec.tasks.map((task) => {
    const above = farReaching.filter((t) => ancestors.has(task.taskId, t.taskId));
    const shortCircuits = task.isTeardown
      ? []
      : above
          .filter((t) => t.branch === "short_circuit" && t.ignoreDownstreamTriggerRules !== false)
          .map((t) => t.taskId);
    const indirectSetups = task.isTeardown
      ? []
      : above
          .filter((t) => t.isSetup && !task.upstream.includes(t.taskId))
          .filter((t) => {
            const teardowns = downstreamOf(t.taskId).filter((id) => specOf(id)?.isTeardown === true);
            return teardowns.length === 0 || teardowns.some((id) => descendants.has(task.taskId, id));
          })
          .map((t) => t.taskId);
    const setups = task.isTeardown ? task.upstream.filter((id) => specOf(id)?.isSetup === true) : [];
    const teardownScope = task.isTeardown
      ? ancestors
          .of(task.taskId)
          .filter((id) => !task.upstream.includes(id) && setups.some((setup) => descendants.has(setup, id)))
      : [];
    const mapping = mappingOf(task);
    const lists = mapping === undefined ? [] : mappedOver(mapping).map(({ taskId }) => taskId);
    const watches = [...new Set([...task.upstream, ...shortCircuits, ...indirectSetups, ...teardownScope, ...lists])];
    for (const id of watches) {
      const watchers = watchedBy.get(id);
      if (watchers === undefined) watchedBy.set(id, [task.taskId]);
      else watchers.push(task.taskId);
    }
    return {
      spec: task,
      upstream: task.upstream,
      downstream: downstreamOf(task.taskId),
      shortCircuits,
      indirectSetups,
      teardownScope,
      watches,
      ...(mapping === undefined ? {} : { mapping }),
      ...(task.mapGroupId === undefined ? {} : { mapGroup: task.mapGroupId }),
      listPaths: listPaths.get(task.taskId) ?? [],
    };
  });

  const tasks = new Map(
    partial.map((node): [string, TaskNode] => [
      node.spec.taskId,
      {
        ...node,
        watchedBy: watchedBy.get(node.spec.taskId) ?? [],
        priorityWeight: weigh(node.spec),
        lane: laneOf(node.spec),
        rank: ranks.get(node.spec.taskId) ?? 0,
        isLeaf: leaves.has(node.spec.taskId),
      },
    ]),
  );
  const pastTasks = spec.tasks
    .filter((task) => task.dependsOnPast || task.waitForDownstream)
    .map((task) => task.taskId);
  const isMapped = partial.some((node) => node.mapping !== undefined);
  return { spec, tasks, leaves: [...leaves], maxMapLength, isMapped, pastTasks };
}

function pathsOfLists(mappings: readonly MappingSpec[]): ReadonlyMap<string, MappedOver["path"][]> {
  const found = new Map<string, Map<string, MappedOver["path"]>>();
  for (const { taskId, path } of mappings.flatMap(mappedOver)) {
    const paths = found.get(taskId) ?? new Map<string, MappedOver["path"]>();
    found.set(taskId, paths.set(path.join("."), path));
  }
  return new Map([...found].map(([taskId, paths]) => [taskId, [...paths.values()]]));
}

function effectiveLeaves(
  tasks: readonly TaskSpec[],
  downstreamOf: (id: string) => readonly string[],
  specOf: (id: string) => TaskSpec | undefined,
): ReadonlySet<string> {
  const counts = (task: TaskSpec | undefined) => task !== undefined && (!task.isTeardown || task.onFailureFailDagrun);
  const leaves = tasks
    .filter((task) => counts(task) && !downstreamOf(task.taskId).some((id) => counts(specOf(id))))
    .map((task) => task.taskId);
  if (leaves.length > 0) return new Set(leaves);
  return new Set(tasks.filter((task) => downstreamOf(task.taskId).length === 0).map((task) => task.taskId));
}
