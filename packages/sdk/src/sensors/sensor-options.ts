import { boolean, checkOptions, oneOf, seconds, type Check } from "../reading/checks.ts";

/** Where a sensor waits between two pokes. */
export type SensorMode = "poke" | "reschedule" | "deferrable";

const MODES: readonly SensorMode[] = ["poke", "reschedule", "deferrable"];

/** What all sensors have in common, with Airflow's names and defaults. Durations are seconds. */
export interface SensorOptions {
  /**
   * `poke`: in its worker, which it holds all the time; for waits of seconds. `reschedule`: gives its slot back between
   * two pokes; for intervals of minutes. `deferrable`: in a triggerer; holds nothing. @default "poke"
   */
  readonly mode?: SensorMode;
  /** Between two pokes; more than 0. @default 60 */
  readonly pokeInterval?: number;
  /**
   * Of one try, from its first start, over all its pokes, reschedules and deferrals; more than 0. It is looked at after
   * each poke, and ends a poke that does not return. The task's `executionTimeout` is another clock: it bounds each
   * single stay in a worker. @default 604800, a week
   */
  readonly timeout?: number;
  /**
   * Skip the task, instead of failing it, when the timeout is over, when a poke throws `FailTask`, and when a trigger
   * fails. Other errors of a poke still fail it. @default false
   */
  readonly softFail?: boolean;
  /** Log what a poke throws, and go on. `SkipTask` and `FailTask` still end the task. @default false */
  readonly silentFail?: boolean;
  /** Skip the task whatever a poke throws, and when a trigger fails; not when the timeout is over. Excludes `softFail`. @default false */
  readonly neverFail?: boolean;
  /** Let the intervals grow twofold from half of `pokeInterval`, with a jitter of up to as much again. @default false */
  readonly exponentialBackoff?: boolean;
  /** The longest interval with `exponentialBackoff`; more than 0. @default no limit */
  readonly maxWait?: number;
}

/** The same with defaults applied. */
export interface SensorSettings extends Required<Omit<SensorOptions, "maxWait">> {
  readonly maxWait: number;
}

const CHECKS: Readonly<Record<keyof SensorOptions, Check>> = {
  mode: oneOf(MODES),
  pokeInterval: seconds("positive"),
  timeout: seconds("positive"),
  softFail: boolean,
  silentFail: boolean,
  neverFail: boolean,
  exponentialBackoff: boolean,
  maxWait: seconds("positive"),
};

export interface ReadSensorOptions {
  readonly settings: SensorSettings;
  readonly problems: readonly string[];
}

/**
 * @param own checks of what the sensor takes beside the common options
 * @param supported the modes that it can be in; the first is its default
 */
export function readSensorOptions(
  options: SensorOptions,
  own: Readonly<Record<string, Check>>,
  supported: readonly [SensorMode, ...SensorMode[]] = ["poke", "reschedule", "deferrable"],
): ReadSensorOptions {
  const mode = options.mode ?? supported[0];
  const wrong = checkOptions(options, { ...CHECKS, ...own });
  return {
    settings: {
      mode,
      pokeInterval: options.pokeInterval ?? 60,
      timeout: options.timeout ?? 604_800,
      softFail: options.softFail ?? false,
      silentFail: options.silentFail ?? false,
      neverFail: options.neverFail ?? false,
      exponentialBackoff: options.exponentialBackoff ?? false,
      maxWait: options.maxWait ?? Infinity,
    },
    problems: [
      ...wrong,
      ...(options.softFail === true && options.neverFail === true ? ["softFail and neverFail exclude each other"] : []),
      ...(MODES.includes(mode) && !supported.includes(mode)
        ? [
            `mode "${mode}" is not possible here, because what a task runs in has no driver for it: use ${supported.map((known) => `"${known}"`).join(" or ")}, which a triggerer does`,
          ]
        : []),
    ],
  };
}
