// Sensors whose waiting a built-in trigger can do. In mode `deferrable` they look once themselves, where they can, and
// then leave it to the trigger. Their options are rendered once for each stay in a worker.
import { TriggerFailed } from "../errors/wait-errors.ts";
import type { OperatorDefinition } from "../operators/operator.ts";
import type { RunScope } from "../runtime/run-scope.ts";
import type { RenderedFields, TemplateField } from "../templates/render-fields.ts";
import type { Trigger } from "../triggers/trigger.ts";
import { defer } from "../waiting/pause.ts";
import type { ReadSensorOptions } from "./sensor-options.ts";
import { sensorDefinition } from "./sensor.ts";
import { skipped, timedOut, Watch, type PokeContext } from "./watch.ts";

export interface BuiltInSensor<E> {
  readonly name: string;
  readonly options: ReadSensorOptions;
  /** Options that are templates, or functions of the context and the inputs. */
  readonly fields?: Readonly<Record<string, TemplateField>>;
  /** Absent when only a triggerer can look. */
  readonly poke?: (fields: RenderedFields, scope: RunScope, context: PokeContext) => unknown;
  /** Its name, as errors tell it. */
  readonly triggerName: string;
  readonly trigger: (fields: RenderedFields, scope: RunScope) => Trigger<E>;
  /** What the event means for the task, when it is not its value. Asks for a worker. */
  readonly judge?: (event: E) => unknown;
  /** What is wrong beyond single options. */
  readonly problems?: readonly (string | undefined)[];
}

export function builtInSensor<E>(sensor: BuiltInSensor<E>): OperatorDefinition {
  const { settings } = sensor.options;
  const problems = [...sensor.options.problems, ...(sensor.problems ?? [])].filter((problem) => problem !== undefined);
  const { poke, fields: options = {} } = sensor;
  const pokeWith = (fields: RenderedFields, scope: RunScope) => (context: PokeContext) =>
    poke?.(fields, scope, context) ?? false;
  if (settings.mode !== "deferrable") {
    const definition = sensorDefinition(sensor.name, settings, problems, (_inputs, scope, fields) =>
      pokeWith(fields, scope),
    );
    return { ...definition, fields: options };
  }
  return {
    name: sensor.name,
    problems,
    fields: options,
    run: async (_inputs, scope, fields) => {
      const { waited } = scope;
      if (waited?.resumed !== undefined) return resume(sensor, waited.resumed.event, waited.seconds);
      const watch = new Watch(pokeWith(fields, scope), settings, scope, { elapsed: waited?.seconds ?? 0, pokes: 0 });
      if (poke !== undefined) {
        const end = await watch.once();
        if (end.kind === "done") return end.value;
      }
      const left = settings.timeout - watch.elapsed();
      if (left <= 0) throw timedOut(settings, watch.elapsed());
      const onEvent = scope.decides === true || sensor.judge !== undefined ? "resume" : "end";
      return defer(sensor.trigger(fields, scope), { timeout: left, onEvent }, scope);
    },
  };
}

function resume<E>(
  sensor: BuiltInSensor<E>,
  event: NonNullable<NonNullable<RunScope["waited"]>["resumed"]>["event"],
  elapsed: number,
): unknown {
  const { settings } = sensor.options;
  if (event.kind === "timeout") throw timedOut(settings, elapsed);
  if (event.kind === "event") {
    const payload = event.payload as E; // what the trigger of this name gives
    return sensor.judge === undefined ? payload : sensor.judge(payload);
  }
  const failed = new TriggerFailed(sensor.triggerName, event.error);
  throw settings.softFail || settings.neverFail ? skipped(failed) : failed;
}
