import type { NoArguments } from "../authoring/handlers.ts";
import { Operator } from "../operators/operator.ts";
import type { PerRun } from "../operators/per-run.ts";
import { orTemplate } from "../operators/read-fields.ts";
import type { RenderedFields } from "../templates/render-fields.ts";
import { hasTemplate } from "../templates/parse-template.ts";
import { httpKwargs, httpPoll, type HttpPollEvent, type HttpPollOptions } from "../triggers/http-poll.ts";
import { show } from "../reading/checks.ts";
import { builtInSensor } from "./built-in-sensor.ts";
import { requestOnce } from "./http-request.ts";
import { pokeReturn } from "./poke-return.ts";
import { readSensorOptions, type SensorOptions } from "./sensor-options.ts";

/** The options of {@link httpSensor}. */
export interface HttpSensorOptions<A extends object> extends SensorOptions {
  /** What to ask, and which answer to wait for; texts in it are templates. `pokeInterval` says how often. */
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
    request: orTemplate((value) => {
      if (typeof value !== "object" || value === null) return `must be an object or a function, got ${show(value)}`;
      if (hasTemplate(value)) return undefined; // checked when it is rendered
      const { problem } = httpPoll(value);
      return problem === undefined ? undefined : `: ${problem}`;
    }),
  });
  const askedBy = (fields: RenderedFields) => {
    const asked = fields["request"] as Omit<HttpPollOptions, "pollSeconds">; // or something else, which is refused here
    const { problem } = httpPoll(asked);
    if (problem !== undefined) throw new TypeError(problem);
    return asked;
  };
  return new Operator(
    builtInSensor({
      name: "http_sensor",
      options: read,
      problems: [request === undefined ? "request is missing" : undefined],
      fields: { request: { value: request } },
      poke: async (fields, { client }, { signal }) => {
        const answer = await requestOnce(httpKwargs(askedBy(fields)), client, signal);
        return answer === undefined ? false : pokeReturn(true, answer);
      },
      triggerName: "millrace.http",
      trigger: (fields) => httpPoll({ ...askedBy(fields), pollSeconds: read.settings.pokeInterval }),
    }),
  );
}
