import { show } from "../reading/checks.ts";
import { callSite, type CallSite } from "./call-site.ts";
import { change, type GroupNode, type Node, type TaskNode } from "./definition.ts";
import {
  NODE,
  type OUTPUT,
  PATH,
  type DagEnd,
  type DagTaskEnd,
  type FieldKey,
  type FieldOf,
  type LazyList,
  type MappedRef,
  type MappedTaskRef,
  type Output,
  type TaskRef,
  type TeardownOptions,
  type ValueRef,
} from "./refs.ts";

/** Whether a value is a task or a group of some DAG. */
export function isDagEnd(value: unknown): value is DagEnd {
  return typeof value === "object" && value !== null && NODE in value;
}

/** Draws edges between one end and many. Ends that are none are reported to the DAG of the receiver. */
export function connect(receiver: Node, ends: readonly unknown[], side: "before" | "after", at: CallSite): void {
  const { dag } = receiver;
  change(dag);
  for (const end of ends) {
    if (!isDagEnd(end)) {
      const hint = typeof end === "function" ? "a factory has to be called first" : `got ${show(end)}`;
      dag.problems.push({
        message: `${receiver.kind} "${receiver.id}": ${side}() takes tasks and groups; ${hint}`,
        at,
      });
    } else {
      const other = end[NODE];
      dag.edges.push(side === "before" ? { from: receiver, to: other, at } : { from: other, to: receiver, at });
    }
  }
}

/** One field of a task's value. Can be an input, but has no edges of its own. */
export class NodeValueRef<T> implements ValueRef<T> {
  declare readonly [OUTPUT]: T;
  readonly [PATH]: readonly string[];
  readonly source: TaskNode;

  constructor(source: TaskNode, path: readonly string[]) {
    this.source = source;
    this[PATH] = path;
  }

  get<K extends FieldKey<NonNullable<T>>>(field: K): ValueRef<FieldOf<T, K>> {
    return new NodeValueRef<FieldOf<T, K>>(this.source, [...this[PATH], String(field)]);
  }
}

/** All values of a mapped task, or of a task of a mapped group as it is seen from outside of that. */
export class NodeListRef<T> extends NodeValueRef<T[]> implements MappedRef<T> {
  readonly isLazy: boolean;

  constructor(source: TaskNode, isLazy = false) {
    super(source, []);
    this.isLazy = isLazy;
  }

  lazy(): Output<LazyList<T>> {
    return new NodeListRef<T>(this.source, true) as unknown as Output<LazyList<T>>; // a phantom type: there is no value
  }
}

/** What the mapped group around a task gives to each of its indexes, or one field of it. */
export class ElementRef<T> implements ValueRef<T> {
  declare readonly [OUTPUT]: T;
  readonly [PATH]: readonly string[];
  readonly group: GroupNode;

  constructor(group: GroupNode, path: readonly string[]) {
    this.group = group;
    this[PATH] = path;
  }

  get<K extends FieldKey<NonNullable<T>>>(field: K): ValueRef<FieldOf<T, K>> {
    return new ElementRef<FieldOf<T, K>>(this.group, [...this[PATH], String(field)]);
  }
}

/** What a factory returns. */
export class NodeRef<T> extends NodeValueRef<T> implements TaskRef<T> {
  readonly [NODE]: TaskNode;

  constructor(node: TaskNode) {
    super(node, []);
    this[NODE] = node;
  }

  get taskId(): string {
    return this[NODE].id;
  }

  before(...ends: readonly DagEnd[]): this {
    connect(this[NODE], ends, "before", callSite(this.before));
    return this;
  }

  after(...ends: readonly DagEnd[]): this {
    connect(this[NODE], ends, "after", callSite(this.after));
    return this;
  }

  asSetup(): this {
    markSetup(this[NODE], callSite(this.asSetup));
    return this;
  }

  asTeardown(options: TeardownOptions = {}): this {
    const node = this[NODE];
    const at = callSite(this.asTeardown);
    change(node.dag);
    if (node.isSetup) {
      node.dag.problems.push({ message: `task "${node.id}" is a setup and cannot be a teardown as well`, at });
    }
    node.isTeardown = true;
    node.onFailureFailDagrun = options.onFailureFailDagrun ?? false;
    const setups: readonly DagTaskEnd[] = options.setups === undefined ? [] : [options.setups].flat();
    for (const setup of setups.filter(isDagEnd)) {
      if (setup[NODE].kind === "task") markSetup(setup[NODE], at);
    }
    connect(node, setups, "after", at);
    return this;
  }
}

/** What the `expand` of a factory returns. */
export class MappedNodeRef<T> extends NodeRef<T[]> implements MappedTaskRef<T> {
  lazy(): Output<LazyList<T>> {
    return new NodeListRef<T>(this.source).lazy();
  }
}

/**
 * The values that a task of a mapped group has at all indexes of it, for a task outside of the group: the reference itself
 * stands for the value at one index.
 *
 * @example `merge({ parts: collect(parsed) })`
 */
export function collect<T>(ref: TaskRef<T>): MappedRef<T> {
  return new NodeListRef<T>(ref[NODE]);
}

function markSetup(node: TaskNode, at: CallSite): void {
  change(node.dag);
  if (node.isTeardown) {
    node.dag.problems.push({ message: `task "${node.id}" is a teardown and cannot be a setup as well`, at });
  }
  node.isSetup = true;
}
