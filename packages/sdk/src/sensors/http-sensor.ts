import type { NoArguments } from "../authoring/handlers.ts";
import { Operator } from "../operators/operator.ts";
import { perRun, type PerRun } from "../operators/per-run.ts";
import { httpKwargs, httpPoll, type HttpPollEvent, type HttpPollOptions } from "../triggers/http-poll.ts";
import { show } from "../reading/checks.ts";
import { builtInSensor } from "./built-in-sensor.ts";
import { requestOnce } from "./http-request.ts";
import { pokeReturn } from "./poke-return.ts";
import { readSensorOptions, type SensorOptions } from "./sensor-options.ts";

/** The options of {@link httpSensor}. */
export interface HttpSensorOptions<A extends object> extends SensorOptions {
  /** What to ask, and which answer to wait for. `pokeInterval` says how often. */
  readonly request: PerRun<Omit<HttpPollOptions, "pollSeconds">, A>;
}

/**
 * Waits until an HTTP request is answered as wished; its value is the answer. Other answers are asked again. A request
 * that fails fails the poke, and in mode `deferrable` it is asked again. Airflow's `HttpSensor`.
 *
 * @example `httpSensor({ request: { url: "https://example.org/ready" }, mode: "deferrable", pokeInterval: 10 })`
 */
export function httpSensor<A extends object = NoArguments>(options: HttpSensorOptions<A>): Operator<A, HttpPollEvent> {
  const { request } = options;
  const read = readSensorOptions(options, {
    request: (value) => {
      if (typeof value === "function") return undefined;
      if (typeof value !== "object" || value === null) return `must be an object or a function, got ${show(value)}`;
      const { problem } = httpPoll(value);
      return problem === undefined ? undefined : `: ${problem}`;
    },
  });
  return new Operator(
    builtInSensor({
      name: "http_sensor",
      options: read,
      problems: [request === undefined ? "request is missing" : undefined],
      poke: async (inputs, { context, client }, { signal }) => {
        // The factory's types ask for the inputs that `request` takes.
        const asked = await perRun(request, context, inputs as A);
        const { problem } = httpPoll(asked);
        if (problem !== undefined) throw new TypeError(problem);
        const answer = await requestOnce(httpKwargs(asked), client, signal);
        return answer === undefined ? false : pokeReturn(true, answer);
      },
      trigger: async (inputs, { context }) =>
        httpPoll({ ...(await perRun(request, context, inputs as A)), pollSeconds: read.settings.pokeInterval }),
    }),
  );
}
