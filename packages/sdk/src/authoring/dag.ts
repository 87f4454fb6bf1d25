import { DagDefinitionError } from "../errors/dag-definition-error.ts";
import { mockedArtifact } from "../runtime/mocked-artifact.ts";
import { readDag } from "../reading/read-dag.ts";
import type { DagSpec } from "../spec/index.ts";
import { IfBuilder, SwitchBuilder } from "./branching.ts";
import { callSite } from "./call-site.ts";
import type { DagOptions } from "./dag-options.ts";
import { loadTesting, type DagTestOptions, type DagTestResult } from "./dag-test.ts";
import type { DagDefinition } from "./definition.ts";
import type { DagTaskEnd, Output } from "./refs.ts";
import { register } from "./registry.ts";
import { TaskScope } from "./task-scope.ts";

const definitions = new WeakMap<Dag, DagDefinition>();

/**
 * A workflow: tasks, and the order between them. To construct one is enough for Millrace to find it; the file needs
 * no export.
 *
 * @example
 * ```ts
 * const dag = new Dag("etl", { schedule: "@daily", tags: ["sales"] });
 * const extract = dag.task("extract", async () => [1, 2, 3]);
 * const load = dag.task("load", async ({ rows }: { rows: number[] }) => rows.length, { retries: 2 });
 * load({ rows: extract() });
 * ```
 */
export class Dag extends TaskScope {
  readonly dagId: string;
  readonly #definition: DagDefinition;

  /**
   * @param dagId letters and digits of any script, `_`, `-` and `.`; at most 250 characters; unique in the installation
   * @param options unknown ones are an error of the DAG that names them
   */
  constructor(dagId: string, options: DagOptions = {}) {
    const definition: DagDefinition = {
      id: String(dagId),
      options,
      declaredAt: callSite(Dag),
      tasks: [],
      groups: [],
      edges: [],
      problems: [],
      reading: undefined,
    };
    super(definition, undefined);
    this.dagId = definition.id;
    this.#definition = definition;
    definitions.set(this, definition);
    register(definition);
  }

  /**
   * Makes the value of `condition` decide which arms run: `dag.if(ok).then(a).else(b)`. The arm that is not chosen is
   * skipped; other tasks downstream of the condition are not touched. Without `else`, `false` skips only `then`.
   */
  if(condition: DagTaskEnd & Output<boolean>): IfBuilder {
    return new IfBuilder(this.#definition, condition, callSite(this.if));
  }

  /**
   * Makes the value of `decider` choose one of several arms: `dag.switch(decider).case(a).case(b)`. The decider's
   * handler returns the chosen case, as the reference that its factory returned; the other cases are skipped.
   */
  switch(decider: DagTaskEnd): SwitchBuilder {
    return new SwitchBuilder(this.#definition, decider, callSite(this.switch));
  }

  /**
   * The DAG as data, with all defaults applied. Runs no handler.
   *
   * @throws DagDefinitionError with every problem at once
   */
  spec(): DagSpec {
    const result = readDag(this.#definition);
    if (result.structure === undefined) throw new DagDefinitionError(this.dagId, result.problems);
    return result.structure.spec;
  }

  /**
   * Runs the DAG once in this process, without any service: handlers run for real unless mocked, retries do not wait.
   * Not within a task.
   *
   * @returns states, values, logs and errors of all tasks; what a handler throws is in them
   * @throws DagDefinitionError when the DAG cannot be read
   * @throws AppError TASK_NOT_FOUND for a mock of a task that the DAG does not have, RUN_PARAMS_INVALID with every violation
   * of the params by conf, as a trigger of the DAG would be refused
   * @example
   * ```ts
   * const { state, tasks } = await dag.test({ mocks: { extract: [1, 2, 3] } });
   * ```
   */
  async test(options: DagTestOptions = {}): Promise<DagTestResult> {
    const spec = this.spec();
    const { testArtifact } = await loadTesting();
    return await testArtifact(mockedArtifact(this.#definition, options.mocks ?? {}), spec, options);
  }
}

/** What has been declared on a DAG so far. */
export function definitionOf(dag: Dag): DagDefinition {
  const definition = definitions.get(dag);
  if (definition === undefined) throw new TypeError("not a Dag of this copy of the SDK");
  return definition;
}
