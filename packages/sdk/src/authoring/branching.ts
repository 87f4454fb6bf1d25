import { callSite, type CallSite } from "./call-site.ts";
import { change, type DagDefinition, type Decision, type Node, type TaskNode } from "./definition.ts";
import { connect, isDagEnd } from "./node-ref.ts";
import { NODE, type DagEnd } from "./refs.ts";

/** What `dag.if(condition)` returns: say with `then` what runs when the condition is true. */
export class IfBuilder {
  readonly #arms: ArmWriter;

  constructor(dag: DagDefinition, condition: unknown, at: CallSite) {
    this.#arms = new ArmWriter(dag, condition, "if", at);
  }

  /**
   * The arm for `true`: tasks or groups.
   *
   * @throws TypeError when it is given a function, which is what `await dag.if(…)` does: this is not a promise.
   */
  // eslint-disable-next-line unicorn/no-thenable -- the name is the language's; what is given tells an await apart
  then(...arm: readonly DagEnd[]): ElseBuilder {
    const writer = this.#arms;
    if (arm.some((end: unknown) => typeof end === "function")) {
      throw new TypeError(
        "dag.if(…).then(…) got a function: it builds a branch and is not a promise. " +
          "Drop the await, or call the task's factory and give what it returns.",
      );
    }
    writer.add("arms", arm, callSite(this.then));
    return new ElseBuilder(writer);
  }
}

/** What `then` returns: an optional `else`, and no `then`, so that it is no thenable. */
export class ElseBuilder {
  readonly #arms: ArmWriter;

  constructor(arms: ArmWriter) {
    this.#arms = arms;
  }

  /** The arm for `false`: tasks or groups. */
  else(...arm: readonly DagEnd[]): void {
    this.#arms.add("otherwise", arm, callSite(this.else));
  }
}

/** What `dag.switch(decider)` returns: one `case` for each arm that the decider can choose. */
export class SwitchBuilder {
  readonly #arms: ArmWriter;

  constructor(dag: DagDefinition, decider: unknown, at: CallSite) {
    this.#arms = new ArmWriter(dag, decider, "switch", at);
  }

  /** A task or a group that the decider can choose. */
  case(arm: DagEnd): this {
    this.#arms.add("arms", [arm], callSite(this.case));
    return this;
  }
}

class ArmWriter {
  readonly #decider: TaskNode | undefined;
  readonly #decision: Decision;

  constructor(dag: DagDefinition, decider: unknown, kind: Decision["kind"], at: CallSite) {
    this.#decision = { kind, at, arms: [], otherwise: [] };
    change(dag);
    const node = isDagEnd(decider) ? decider[NODE] : undefined;
    if (node?.kind !== "task") {
      dag.problems.push({ message: `dag.${kind}(…) takes the reference that a task's factory returned`, at });
    } else if (node.dag !== dag) {
      dag.problems.push({ message: `dag.${kind}(…): task "${node.id}" belongs to the DAG "${node.dag.id}"`, at });
    } else if (node.decision !== undefined || node.body.branch !== undefined) {
      dag.problems.push({ message: `task "${node.id}" decides a branch already; it cannot decide a second one`, at });
    } else {
      node.decision = this.#decision;
      this.#decider = node;
    }
  }

  add(side: "arms" | "otherwise", ends: readonly DagEnd[], at: CallSite): void {
    if (this.#decider === undefined) return;
    connect(this.#decider, ends, "before", at);
    const nodes: readonly Node[] = ends.filter(isDagEnd).map((end) => end[NODE]);
    this.#decision[side].push(...nodes);
  }
}
