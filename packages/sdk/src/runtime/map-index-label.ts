// How an instance of a mapped task is shown in place of its index: its task's `mapIndexTemplate`, rendered before the
// handler runs, and again after it, when there are also the names that it gave and what it returned. A label is for
// people: what is wrong with it stands in the task's log, and the attempt goes on.
import type { Json } from "../spec/index.ts";
import { taskMembers } from "../templates/airflow-names.ts";
import { ownInputs } from "../templates/field-inputs.ts";
import { fromData } from "../templates/from-data.ts";
import { renderLine, type RenderedFields } from "../templates/render-fields.ts";
import { Names, type Value } from "../templates/values.ts";
import { decodeValue } from "../values/codec.ts";
import type { TaskOutcome } from "./protocol.ts";
import type { RunScope } from "./run-scope.ts";

export class MapIndexLabel {
  readonly #template: string | undefined;
  readonly #scope: RunScope;
  readonly #inputs: Readonly<Record<string, Json>>;
  #told: string | undefined;

  constructor(scope: RunScope, inputs: Readonly<Record<string, Json>>) {
    this.#template = scope.context.mapIndex < 0 ? undefined : scope.taskSpec?.mapIndexTemplate;
    this.#scope = scope;
    this.#inputs = ownInputs(inputs);
  }

  /** What a name stands for may still be to come, so that one which is missing is nothing to speak of. */
  async before(fields: RenderedFields): Promise<void> {
    await this.#tell(fields, undefined, false);
  }

  /** An attempt that failed has more important things to say. */
  async after(fields: RenderedFields, outcome: TaskOutcome): Promise<void> {
    const isSuccess = outcome.kind === "success";
    await this.#tell(fields, isSuccess ? outcome.returnValue : undefined, isSuccess);
  }

  async #tell(fields: RenderedFields, result: Json | undefined, isLast: boolean): Promise<void> {
    const { host, context } = this.#scope;
    if (this.#template === undefined || host.setMapIndexLabel === undefined) return;
    try {
      const names = this.#names(fields, result);
      const label = await renderLine(this.#template, "mapIndexTemplate", this.#scope, this.#inputs, names);
      if (label === "" || label === this.#told) return;
      await host.setMapIndexLabel(label);
      this.#told = label;
    } catch (error) {
      if (!isLast) return;
      const message = error instanceof Error ? error.message : String(error);
      const shown = this.#told === undefined ? `its index, ${context.mapIndex}` : `"${this.#told}" as before`;
      host.log("warn", `this instance is shown by ${shown}: ${message}`);
    }
  }

  /** What the handler gave is first, as in Airflow; an argument of the task is there by its name if nothing else is. */
  #names(fields: RenderedFields, result: Json | undefined) {
    const given = this.#scope.context.names;
    return {
      first: (name: string): Value | undefined => {
        if (Object.hasOwn(given, name)) return fromData(given[name]);
        if (name !== "task") return undefined;
        const options = Object.entries(fields).map(([field, value]): [string, Value] => [field, fromData(value)]);
        return new Names("task", { ...Object.fromEntries(options), ...taskMembers(this.#scope) });
      },
      last: (name: string): Value | undefined => {
        if (name === "result") return result === undefined ? undefined : fromData(decodeValue(result));
        return Object.hasOwn(this.#inputs, name) ? fromData(this.#inputs[name]) : undefined;
      },
    };
  }
}
