// Sensors whose waiting a built-in trigger can do. In mode `deferrable` they look once themselves, where they can, and
// then leave it to the trigger.
import { TriggerFailed } from "../errors/wait-errors.ts";
import type { OperatorDefinition } from "../operators/operator.ts";
import type { RunScope } from "../runtime/run-scope.ts";
import type { Json } from "../spec/index.ts";
import type { Trigger } from "../triggers/trigger.ts";
import { defer } from "../waiting/pause.ts";
import type { ReadSensorOptions } from "./sensor-options.ts";
import { sensorDefinition } from "./sensor.ts";
import { skipped, timedOut, Watch, type PokeContext } from "./watch.ts";

type Inputs = Readonly<Record<string, Json>>;

export interface BuiltInSensor<E> {
  readonly name: string;
  readonly options: ReadSensorOptions;
  /** Absent when only a triggerer can look. */
  readonly poke?: (inputs: Inputs, scope: RunScope, context: PokeContext) => unknown;
  readonly trigger: (inputs: Inputs, scope: RunScope) => Trigger<E> | Promise<Trigger<E>>;
  /** What the event means for the task, when it is not its value. Asks for a worker. */
  readonly judge?: (event: E) => unknown;
  /** What is wrong beyond single options. */
  readonly problems?: readonly (string | undefined)[];
}

export function builtInSensor<E>(sensor: BuiltInSensor<E>): OperatorDefinition {
  const { settings } = sensor.options;
  const problems = [...sensor.options.problems, ...(sensor.problems ?? [])].filter((problem) => problem !== undefined);
  const { poke } = sensor;
  const pokeWith = (inputs: Inputs, scope: RunScope) => (context: PokeContext) =>
    poke?.(inputs, scope, context) ?? false;
  if (settings.mode !== "deferrable") return sensorDefinition(sensor.name, settings, problems, pokeWith);
  return {
    name: sensor.name,
    problems,
    run: async (inputs, scope) => {
      const { waited } = scope;
      if (waited?.resumed !== undefined) return resume(sensor, waited.resumed.event, waited.seconds, inputs, scope);
      const watch = new Watch(pokeWith(inputs, scope), settings, scope, { elapsed: waited?.seconds ?? 0, pokes: 0 });
      if (poke !== undefined) {
        const end = await watch.once();
        if (end.kind === "done") return end.value;
      }
      const left = settings.timeout - watch.elapsed();
      if (left <= 0) throw timedOut(settings, watch.elapsed());
      const onEvent = scope.decides === true || sensor.judge !== undefined ? "resume" : "end";
      return defer(await sensor.trigger(inputs, scope), { timeout: left, onEvent }, scope);
    },
  };
}

async function resume<E>(
  sensor: BuiltInSensor<E>,
  event: NonNullable<NonNullable<RunScope["waited"]>["resumed"]>["event"],
  elapsed: number,
  inputs: Inputs,
  scope: RunScope,
): Promise<unknown> {
  const { settings } = sensor.options;
  if (event.kind === "timeout") throw timedOut(settings, elapsed);
  if (event.kind === "event") {
    const payload = event.payload as E; // what the trigger of this name gives
    return sensor.judge === undefined ? payload : sensor.judge(payload);
  }
  const { spec } = await sensor.trigger(inputs, scope);
  const failed = new TriggerFailed(spec.name, event.error);
  throw settings.softFail || settings.neverFail ? skipped(failed) : failed;
}
