// What a DAG and a task group have in common: tasks and groups are declared in them.
import { triggerDagRun, type TriggerDagRunSettings, type TriggeredRun } from "../operators/trigger-dag-run.ts";
import { Operator, type OperatorDefinition } from "../operators/operator.ts";
import type { Filled } from "../operators/per-run.ts";
import type { Json, TriggerRule } from "../spec/index.ts";
import type { ReturnCheck } from "../values/json-safe.ts";
import { callSite, type CallSite } from "./call-site.ts";
import type { TaskGroupOptions } from "./dag-options.ts";
import { change, type DagDefinition, type GroupNode, type MappingGiven, type TaskNode } from "./definition.ts";
import type { Lists, NoArguments, TaskBody, TaskFactory } from "./handlers.ts";
import { connect, ElementRef, MappedNodeRef, NodeRef } from "./node-ref.ts";
import { NODE, type DagEnd, type ListOf, type TaskRef, type ValueRef } from "./refs.ts";
import type { TaskOptions } from "./task-options.ts";

/** What `dag.triggerDagRun` is told. */
export interface TriggerDagRunTask extends TriggerDagRunSettings {
  readonly taskId: string;
  /** What the run is started with: literals, templates, and references to upstream values. @default \{\} */
  readonly conf?: Filled<Readonly<Record<string, Json>>>;
}

/** Declares tasks and nested groups. Extended by {@link Dag} and {@link TaskGroup}. */
export abstract class TaskScope {
  readonly #dag: DagDefinition;
  readonly #group: GroupNode | undefined;

  protected constructor(dag: DagDefinition, group: GroupNode | undefined) {
    this.#dag = dag;
    this.#group = group;
  }

  /**
   * Declares a task, and returns the factory that places it. The id is the handler's function name, or
   * `options.taskId`.
   *
   * @example `const rows = dag.task(extract, { retries: 2 })();`
   */
  task<R, A extends object = NoArguments, Rule extends TriggerRule = "all_success">(
    body: TaskBody<A, R> & ReturnCheck<R>,
    options?: TaskOptions<Rule>,
  ): TaskFactory<A, R, Rule>;
  /**
   * Declares a task with this id, and returns the factory that places it. Within a group the id is prefixed with the
   * group's. Ids consist of letters and digits of any script, `_`, `-` and `.`, and are at most 250 characters long.
   */
  task<R, A extends object = NoArguments, Rule extends TriggerRule = "all_success">(
    taskId: string,
    body: TaskBody<A, R> & ReturnCheck<R>,
    options?: TaskOptions<Rule>,
  ): TaskFactory<A, R, Rule>;
  task(...given: readonly unknown[]): TaskFactory<NoArguments, unknown> {
    const at = callSite(this.task);
    const [taskId, body, options] = typeof given[0] === "string" ? given : [undefined, ...given];
    return declareTask(this.#dag, this.#group, taskId, body, options, at) as unknown as TaskFactory<
      NoArguments,
      unknown
    >; // its types are those of the overloads
  }

  /**
   * Declares and places a task that starts a run of another DAG: `triggerDagRun` of `@millrace/sdk/operators`, whose
   * `conf` can have upstream values in it.
   *
   * @example `dag.triggerDagRun({ taskId: "report", dagId: "report", conf: { rows: load.get("rows") }, waitForCompletion: true })`
   */
  triggerDagRun(
    given: TriggerDagRunTask,
    options: Omit<TaskOptions<"all_success">, "taskId"> = {},
  ): TaskRef<TriggeredRun> {
    const at = callSite(this.triggerDagRun);
    const { taskId, ...settings } = given;
    const place = declareTask(this.#dag, this.#group, taskId, triggerDagRun(settings), options, at);
    return place(undefined, at) as TaskRef<TriggeredRun>; // what the operator gives
  }

  /** Declares a group of tasks. Everything in it has the group's id as a prefix; groups can be nested. */
  taskGroup(groupId: string, options: TaskGroupOptions = {}): TaskGroup {
    return declareGroup(this.#dag, this.#group, groupId, options, callSite(this.taskGroup));
  }
}

/** Tasks that are seen, and put in order, as one. Made by `taskGroup` of a DAG or of another group. */
export class TaskGroup extends TaskScope implements DagEnd {
  readonly [NODE]: GroupNode;

  /** Not for DAG files: use `dag.taskGroup(id)`. */
  constructor(node: GroupNode) {
    super(node.dag, node);
    this[NODE] = node;
  }

  /** The full id, prefixed with those of the groups around it. */
  get groupId(): string {
    return this[NODE].id;
  }

  /**
   * Maps the group: every task in it has one instance for each element, or for each combination of elements when there
   * are several lists. What a task depends on within the group is the instance of the same index, so that one index can be
   * done before another has begun. Outside of the group a task's value is the list of its instances' values: `collect`.
   *
   * @returns for each list a reference to the element of the index, for the inputs of tasks in the group
   * @example
   * ```ts
   * const perFile = dag.taskGroup("per_file");
   * const { file } = perFile.expand({ file: files });
   * const rows = perFile.task("parse", parse)({ file });
   * perFile.task("load", load)({ rows });
   * ```
   */
  expand<A extends object>(lists: Lists<A>): { readonly [K in keyof A]: ValueRef<A[K]> } {
    this.#map({ kind: "expand", lists }, callSite(this.expand));
    const names = Object.keys(typeof lists === "object" ? (lists ?? {}) : {});
    // One reference for each name of the lists.
    return Object.fromEntries(names.map((name) => [name, new ElementRef(this[NODE], [name])])) as never;
  }

  /** As {@link TaskGroup.expand}, over one list of objects: a reference to the object of the index, for `get`. */
  expandKwargs<A extends object>(list: ListOf<A>): ValueRef<A> {
    this.#map({ kind: "expandKwargs", list, strict: true }, callSite(this.expandKwargs));
    return new ElementRef<A>(this[NODE], []);
  }

  #map(given: MappingGiven, at: CallSite): void {
    const node = this[NODE];
    change(node.dag);
    if (node.mapping !== undefined) {
      node.dag.problems.push({
        message: `task group "${node.id}" is mapped twice: map it over zip(…) of the lists`,
        at,
      });
    }
    node.mapping = { given, at };
  }

  /** Draws order-only edges from the group's leaves to `ends`. An empty group is stepped over. */
  before(...ends: readonly DagEnd[]): this {
    connect(this[NODE], ends, "before", callSite(this.before));
    return this;
  }

  /** Draws order-only edges from `ends` to the group's roots. An empty group is stepped over. */
  after(...ends: readonly DagEnd[]): this {
    connect(this[NODE], ends, "after", callSite(this.after));
    return this;
  }
}

function prefixed(group: GroupNode | undefined, id: string): string {
  return group === undefined ? id : `${group.id}.${id}`;
}

function declareGroup(
  dag: DagDefinition,
  parent: GroupNode | undefined,
  groupId: string,
  options: unknown,
  declaredAt: CallSite,
): TaskGroup {
  const id = prefixed(parent, String(groupId));
  // Airflow's rule: the dot is what joins a group's id and what is in it.
  if (String(groupId).includes(".")) {
    dag.problems.push({ message: `task group "${id}": the id of a group must not contain a dot`, at: declaredAt });
  }
  const node: GroupNode = { kind: "group", id, dag, parent, options, declaredAt, mapping: undefined };
  change(dag);
  dag.groups.push(node);
  return new TaskGroup(node);
}

function declareTask(
  dag: DagDefinition,
  group: GroupNode | undefined,
  explicitId: unknown,
  body: unknown,
  options: unknown,
  declaredAt: CallSite,
): DeclaredTask {
  const optionId = typeof options === "object" && options !== null && "taskId" in options ? options.taskId : undefined;
  const ownId = explicitId ?? optionId ?? (typeof body === "function" ? body.name : undefined);
  const report = (message: string, at = declaredAt): void => {
    dag.problems.push({ message, at });
  };
  if (ownId === undefined || ownId === "") {
    report(`task number ${dag.tasks.length + 1} has no id: name its function, or use dag.task("some_id", handler)`);
  }
  if (explicitId !== undefined && optionId !== undefined && explicitId !== optionId) {
    report(`task "${String(explicitId)}": the option taskId says "${String(optionId)}"; give the id once`);
  }
  const id = prefixed(group, ownId === undefined || ownId === "" ? `task_${dag.tasks.length + 1}` : String(ownId));
  const node: TaskNode = {
    kind: "task",
    id,
    dag,
    group,
    body: definitionOf(body, () => report(`task "${id}": its handler must be a function or an operator`)),
    options: withDefaults(group, options),
    declaredAt,
    placement: undefined,
    isSetup: false,
    isTeardown: false,
    onFailureFailDagrun: false,
    decision: undefined,
  };
  change(dag);
  dag.tasks.push(node);
  const settle = (inputs: unknown, at: CallSite, mapping?: MappingGiven): void => {
    change(dag);
    if (node.placement !== undefined) {
      report(`task "${id}" is placed twice: call its factory once, or declare a second task for a second place`, at);
    }
    node.placement = { inputs, at, ...(mapping === undefined ? {} : { mapping }) };
  };
  const place = (inputs?: unknown, at = callSite(place)): TaskRef<unknown> => {
    settle(inputs, at);
    return new NodeRef<unknown>(node);
  };
  const mappable = (inputs?: unknown) => {
    const expand = (lists: unknown) => {
      settle(inputs, callSite(expand), { kind: "expand", lists });
      return new MappedNodeRef<unknown>(node);
    };
    const expandKwargs = (list: unknown, { strict = true }: { readonly strict?: boolean } = {}) => {
      settle(inputs, callSite(expandKwargs), { kind: "expandKwargs", list, strict });
      return new MappedNodeRef<unknown>(node);
    };
    return { expand, expandKwargs };
  };
  return Object.assign(place, { taskId: id, partial: (inputs: unknown) => mappable(inputs), ...mappable() });
}

/** The options of a task over those that the groups around it give, the innermost first. */
function withDefaults(group: GroupNode | undefined, options: unknown): unknown {
  const own = options ?? {};
  if (group === undefined || typeof own !== "object" || Array.isArray(own)) return options;
  const given = group.options;
  const defaults = typeof given === "object" && given !== null && "defaults" in given ? given.defaults : undefined;
  const set = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  // Wrong defaults are reported with the group.
  const merged = typeof defaults === "object" && defaults !== null ? { ...defaults, ...set } : own;
  return withDefaults(group.parent, merged);
}

/** A factory as it is here, where the types of the handler are not known. */
interface DeclaredTask {
  (inputs?: unknown, at?: CallSite): TaskRef<unknown>;
  readonly taskId: string;
}

function definitionOf(body: unknown, invalid: () => void): OperatorDefinition {
  if (body instanceof Operator) return body.definition;
  if (typeof body !== "function") {
    invalid();
    return { name: "task", run: () => undefined };
  }
  return { name: "task", run: (inputs) => body(inputs) as unknown }; // a handler's value is checked when it is there
}
