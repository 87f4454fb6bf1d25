import type { NoArguments } from "../authoring/handlers.ts";
import { TriggerFailed } from "../errors/wait-errors.ts";
import { Operator, type OperatorDefinition } from "../operators/operator.ts";
import { show } from "../reading/checks.ts";
import type { TriggerEvent } from "../runtime/protocol.ts";
import { SENSOR_POKE } from "../runtime/sensor-poke.ts";
import type { RunScope } from "../runtime/run-scope.ts";
import type { Json } from "../spec/index.ts";
import type { RenderedFields } from "../templates/render-fields.ts";
import { Trigger } from "../triggers/trigger.ts";
import { defer, Pause } from "../waiting/pause.ts";
import type { JsonSafe, NotJsonSafe } from "../values/json-safe.ts";
import type { PokeReturn } from "./poke-return.ts";
import { readSensorOptions, type SensorOptions, type SensorSettings } from "./sensor-options.ts";
import { skipped, timedOut, Watch, type PokeContext } from "./watch.ts";

/** The value of a sensor whose pokes return this. One that is done with `true` has none. */
export type ValueOfPoke<B> = B extends PokeReturn<infer T> ? T : B extends true ? undefined : never;

type PokeCheck<B> = [ValueOfPoke<Awaited<B>>] extends [JsonSafe<ValueOfPoke<Awaited<B>>>]
  ? unknown
  : NotJsonSafe<ValueOfPoke<Awaited<B>>>;

/** The options of {@link sensor}. */
export interface OwnSensorOptions<A extends object, B> extends SensorOptions {
  /**
   * Looks once, and says whether what the task waits for is there: `true`, `false`, or `pokeReturn(done, value)`. In mode
   * `deferrable` all pokes but the first run in a triggerer, beside many others: they must not block its event loop.
   */
  readonly poke: ((args: A, context: PokeContext) => B) & PokeCheck<B>;
}

/**
 * Goes where a handler goes: waits until `poke` says that something is there. Airflow's `BaseSensorOperator`, with its
 * rules of what fails, skips and goes on; `SensorTimeout` is never tried again.
 *
 * @example `dag.task("arrival", sensor({ poke: ({ day }: { day: string }) => hasArrived(day), mode: "reschedule" }))`
 */
export function sensor<
  B extends boolean | PokeReturn<unknown> | Promise<boolean | PokeReturn<unknown>>,
  A extends object = NoArguments,
>(options: OwnSensorOptions<A, B>): Operator<A, ValueOfPoke<Awaited<B>>> {
  const { settings, problems } = readSensorOptions(options, {
    poke: (value) => (typeof value === "function" ? undefined : `must be a function, got ${show(value)}`),
  });
  const missing = options.poke === undefined ? ["poke is missing"] : [];
  return new Operator(
    sensorDefinition(
      "sensor",
      settings,
      [...problems, ...missing],
      (inputs) => (context) =>
        // The factory's types ask for the inputs that `poke` takes.
        options.poke(inputs as A, context),
    ),
  );
}

type Inputs = Readonly<Record<string, Json>>;

/** How a sensor pokes, in any mode. One with template fields does not poke in a triggerer, which renders none. */
export function sensorDefinition(
  name: string,
  settings: SensorSettings,
  problems: readonly string[],
  pokeWith: (inputs: Inputs, scope: RunScope, fields: RenderedFields) => (context: PokeContext) => unknown,
): OperatorDefinition {
  return {
    name,
    problems,
    run: async (inputs, scope, fields) => {
      const { waited } = scope;
      if (waited?.resumed !== undefined)
        return valueOfEvent(settings, waited.resumed.event, waited.seconds, SENSOR_POKE);
      const progress = { elapsed: waited?.seconds ?? 0, pokes: waited?.reschedules ?? 0 };
      const watch = new Watch(pokeWith(inputs, scope, fields), settings, scope, progress);
      if (settings.mode === "poke") return watch.untilDone();
      const end = await watch.once();
      if (end.kind === "done") return end.value;
      if (settings.mode === "reschedule") return new Pause({ kind: "rescheduled", delaySeconds: end.seconds });
      return deferPokes(inputs, scope, settings, watch, end.seconds);
    },
    watch: async (kwargs, scope) => {
      // As deferPokes wrote them.
      const { inputs, pokes, startedAt, nextAt } = kwargs as unknown as PokeKwargs;
      const now = Date.now();
      const progress = { elapsed: Math.max(now - Date.parse(startedAt), 0) / 1000, pokes };
      const watch = new Watch(pokeWith(inputs, scope, {}), settings, scope, progress);
      return watch.untilDone(Math.max(Date.parse(nextAt) - now, 0) / 1000);
    },
  };
}

/** What the pokes in a triggerer begin with. Moments, not lengths: another triggerer may have to begin anew with them. */
interface PokeKwargs {
  readonly inputs: Inputs;
  readonly pokes: number;
  readonly startedAt: string;
  readonly nextAt: string;
}

function deferPokes(inputs: Inputs, scope: RunScope, settings: SensorSettings, watch: Watch, wait: number): Pause {
  const now = Date.now();
  const elapsed = watch.elapsed();
  const kwargs: PokeKwargs = {
    inputs,
    pokes: watch.pokes,
    startedAt: new Date(now - elapsed * 1000).toISOString(),
    nextAt: new Date(now + wait * 1000).toISOString(),
  };
  // The pokes end by themselves. This is for a time without any triggerer.
  const timeout = Math.max(settings.timeout - elapsed, 0) + 2 * Math.max(settings.pokeInterval, 60);
  return defer(new Trigger(SENSOR_POKE, kwargs), { timeout }, scope);
}

/** What the event of a deferred sensor means. */
export function valueOfEvent(settings: SensorSettings, event: TriggerEvent, elapsed: number, trigger: string): unknown {
  switch (event.kind) {
    case "event":
      return (event.payload as { readonly value?: Json }).value; // as run-trigger.ts wrote it
    case "timeout":
      throw timedOut(settings, elapsed);
    case "failed": {
      const failed = new TriggerFailed(trigger, event.error);
      throw settings.softFail || settings.neverFail ? skipped(failed) : failed;
    }
  }
}
