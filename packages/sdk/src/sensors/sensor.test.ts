import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Dag, FailTask, getContext, SkipTask } from "../index.ts";
import { problemsOf } from "../reading/fixtures/problems-of.ts";
import { failure, FakeHost, resumed, runRequest, runTrigger } from "../runtime/fake-host.ts";
import { artifact, type RunRequest, type TaskOutcome } from "../runtime/index.ts";
import { pokeIntervalSeconds } from "./poke-interval.ts";
import { readSensorOptions, type SensorOptions } from "./sensor-options.ts";
import { pokeReturn, sensor, type PokeContext } from "./index.ts";

const START = Date.parse("2026-03-01T00:00:00Z");

beforeEach(() => {
  vi.useFakeTimers({ now: START });
});
afterEach(() => {
  vi.useRealTimers();
});

let count = 0;

/** A sensor as the only task of a DAG. */
function place(poke: (args: never, context: PokeContext) => unknown, options: SensorOptions = {}) {
  const dag = new Dag(`sensor_${++count}`);
  const host = new FakeHost();
  (dag.task as (id: string, body: unknown) => () => unknown)(
    "only",
    sensor({ poke: poke as () => boolean, ...options }),
  )();
  const run = (changes: Partial<RunRequest> = {}) => artifact.run(runRequest(dag.dagId, "only", changes), host);
  return { dag, host, run };
}

/** Lets time pass until a run ends, and says how much did. Seconds. */
async function timeOf(run: Promise<unknown>): Promise<number> {
  const begin = Date.now();
  let hasEnded = false;
  void run.finally(() => (hasEnded = true));
  await vi.advanceTimersByTimeAsync(0);
  while (!hasEnded) await vi.advanceTimersToNextTimerAsync();
  return (Date.now() - begin) / 1000;
}

/** False so often, then true. */
const after =
  (pokes: number) =>
  (_args: never, { pokeNumber }: PokeContext) =>
    pokeNumber > pokes;
const never = () => false;
const throws = (error: Error) => () => {
  throw error;
};

describe("a sensor in mode poke", () => {
  test("pokes at once and then with each interval, and has no value", async () => {
    const { run } = place(after(2), { pokeInterval: 30 });
    const end = run();
    expect(await timeOf(end)).toBe(60);
    expect(await end).toEqual({ kind: "success" });
  });

  test("has the value that its last poke gives, with its inputs at hand", async () => {
    const { run } = place(({ day }: { day: string }) => pokeReturn(true, { day }));
    expect(await run({ inputs: { day: "monday" } })).toEqual({ kind: "success", returnValue: { day: "monday" } });
  });

  test("fails for good after the poke at which its timeout is over", async () => {
    const { run } = place(never, { pokeInterval: 60, timeout: 100 });
    const end = run();
    expect(await timeOf(end)).toBe(120);
    expect(await end).toMatchObject({ kind: "failed", retryable: false, error: { name: "SensorTimeout" } });
    expect(await failure(end)).toBe(
      "SensorTimeout: the sensor has timed out: 120.0 s are more than its timeout of 100 s",
    );
  });

  test("ends a poke that does not return, and tells it", async () => {
    const signals: AbortSignal[] = [];
    const poke = (_args: never, { signal }: PokeContext) => {
      signals.push(signal, getContext().signal);
      return new Promise(() => {});
    };
    const { run } = place(poke, { timeout: 100 });
    const end = run();
    expect(await timeOf(end)).toBe(100);
    expect(await failure(end)).toContain("SensorTimeout: ");
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true]);
  });

  test("ends when its attempt has to, between two pokes and in one", async () => {
    for (const poke of [never, () => new Promise(() => {})]) {
      const { run, host } = place(poke, { neverFail: true });
      const end = run();
      await vi.advanceTimersByTimeAsync(10);
      host.controller.abort(new Error("stopped"));
      expect(await failure(end)).toBe("Error: stopped");
    }
  });

  test("is skipped when its executionTimeout is over, where failures are to be skips", async () => {
    for (const poke of [never, () => new Promise(() => {})]) {
      for (const [options, kind] of [
        [{ softFail: true }, "skipped"],
        [{ neverFail: true }, "skipped"],
        [{}, "failed"],
      ] as const) {
        const { run, host } = place(poke, options);
        const end = run();
        await vi.advanceTimersByTimeAsync(10);
        host.controller.abort(Object.assign(new Error("too long"), { name: "TaskTimeout" }));
        expect((await end).kind).toBe(kind);
      }
    }
  });

  test("fails with a retry when a poke returns what is no answer", async () => {
    expect(await failure(place(() => 1).run())).toBe(
      "TypeError: a poke returns true, false or pokeReturn(done, value), got 1",
    );
  });
});

describe("what a poke throws", () => {
  const end = async (error: Error, options: SensorOptions = {}) => {
    const outcome = await place(throws(error), options).run();
    return outcome.kind === "failed" ? `failed ${outcome.retryable ? "with" : "without"} retry` : outcome.kind;
  };

  test.each<[string, SensorOptions, string, string, string]>([
    ["by itself", {}, "failed with retry", "failed without retry", "skipped"],
    ["with softFail", { softFail: true }, "failed with retry", "skipped", "skipped"],
    ["with neverFail", { neverFail: true }, "skipped", "skipped", "skipped"],
  ])("%s", async (_name, options, ordinary, final, skip) => {
    expect(await end(new TypeError("no"), options)).toBe(ordinary);
    expect(await end(new FailTask("no"), options)).toBe(final);
    expect(await end(new SkipTask("no"), options)).toBe(skip);
  });

  test("is logged with silentFail, and the sensor goes on", async () => {
    let pokes = 0;
    const { run, host } = place(
      () => {
        if (++pokes < 3) throw new TypeError("not yet");
        return true;
      },
      { silentFail: true },
    );
    const ended = run();
    expect(await timeOf(ended)).toBe(120);
    expect(await ended).toEqual({ kind: "success" });
    expect(host.lines.map((line) => line.message)).toEqual([
      expect.stringContaining("poke 1 failed: TypeError: not yet"),
      expect.stringContaining("poke 2 failed: TypeError: not yet"),
    ]);
    expect(await end(new FailTask("no"), { silentFail: true })).toBe("failed without retry");
  });

  test("is not the timeout: that is skipped with softFail only", async () => {
    const late = { waited: { seconds: 11, reschedules: 3 } };
    const options = { timeout: 10, mode: "reschedule" } as const;
    expect(await place(never, { ...options, softFail: true }).run(late)).toMatchObject({ kind: "skipped" });
    expect(await place(never, { ...options, neverFail: true }).run(late)).toMatchObject({
      kind: "failed",
      error: { name: "SensorTimeout" },
    });
  });
});

describe("a sensor in mode reschedule", () => {
  test("pokes once and gives its slot back", async () => {
    const { run } = place(after(1), { mode: "reschedule", pokeInterval: 300 });
    expect(await run()).toEqual({ kind: "rescheduled", delaySeconds: 300 });
    expect(await run({ waited: { seconds: 300, reschedules: 1 } })).toEqual({ kind: "success" });
  });

  test("has one timeout over all of its pokes in a try", async () => {
    const { run } = place(never, { mode: "reschedule", timeout: 100 });
    expect(await run({ waited: { seconds: 99, reschedules: 1 } })).toMatchObject({ kind: "rescheduled" });
    expect(await failure(run({ waited: { seconds: 120.5, reschedules: 2 } }))).toContain("120.5 s are more than");
    // The next try begins anew.
    expect(await run({ tryNumber: 2 })).toMatchObject({ kind: "rescheduled" });
  });
});

describe("a sensor in mode deferrable", () => {
  const deferral = async (outcome: Promise<TaskOutcome>) => {
    const deferred = await outcome;
    if (deferred.kind !== "deferred") throw new Error(`not deferred but ${deferred.kind}`);
    return deferred;
  };

  test("pokes once in its worker, then in a triggerer, and ends there", async () => {
    const numbers: number[] = [];
    const poke = ({ day }: { day: string }, { pokeNumber }: PokeContext) => {
      numbers.push(pokeNumber);
      return pokeReturn(pokeNumber === 3, day);
    };
    const { dag, run } = place(poke, { mode: "deferrable", pokeInterval: 30, timeout: 100 });
    const { trigger, timeoutSeconds, onEvent } = await deferral(run({ inputs: { day: "monday" } }));
    expect({ trigger, timeoutSeconds, onEvent }).toEqual({
      trigger: {
        name: "sensor.poke",
        kwargs: {
          inputs: { day: "monday" },
          pokes: 1,
          startedAt: "2026-03-01T00:00:00.000Z",
          nextAt: "2026-03-01T00:00:30.000Z",
        },
      },
      timeoutSeconds: 220,
      onEvent: "resume",
    });
    const end = runTrigger(dag, "only", trigger);
    expect(await timeOf(end)).toBe(60);
    expect(await end).toEqual({ kind: "end", state: "success", value: "monday" });
    expect(numbers).toEqual([1, 2, 3]);
  });

  test("keeps its clock when another triggerer has to begin anew", async () => {
    const { dag, run } = place(never, { mode: "deferrable", timeout: 100 });
    const { trigger } = await deferral(run({ waited: { seconds: 20, reschedules: 0 } }));
    vi.setSystemTime(START + 50_000);
    const end = runTrigger(dag, "only", trigger);
    expect(await timeOf(end)).toBe(70);
    expect(await end).toMatchObject({
      kind: "end",
      state: "failed",
      retryable: false,
      message: expect.stringMatching(/^SensorTimeout: .* more than its timeout of 100 s/),
    });
  });

  test("fails and skips from the triggerer as from a worker", async () => {
    const later =
      (error: Error) =>
      (_args: never, { pokeNumber }: PokeContext) => {
        if (pokeNumber > 1) throw error;
        return false;
      };
    const end = async (error: Error, options: SensorOptions = {}) => {
      const { dag, run } = place(later(error), { mode: "deferrable", ...options });
      const ended = runTrigger(dag, "only", (await deferral(run())).trigger);
      await timeOf(ended);
      return ended;
    };
    expect(await end(new TypeError("no"))).toEqual({
      kind: "end",
      state: "failed",
      message: "TypeError: no",
      retryable: true,
    });
    expect(await end(new TypeError("no"), { neverFail: true })).toMatchObject({ kind: "end", state: "skipped" });
    expect(await end(new SkipTask("no data"))).toEqual({ kind: "end", state: "skipped", message: "no data" });
  });

  test("asks for a worker when its value decides a branch", async () => {
    const dag = new Dag("deciding_sensor");
    const poke = (_args: object, { pokeNumber }: PokeContext) => pokeReturn(pokeNumber > 1, true);
    const ready = dag.task("ready", sensor({ poke, mode: "deferrable" }))();
    dag
      .if(ready)
      .then(dag.task("yes", () => 1)())
      .else(dag.task("no", () => 1)());
    const { trigger, state } = await deferral(artifact.run(runRequest(dag.dagId, "ready"), new FakeHost()));
    const event = runTrigger(dag, "ready", trigger);
    await timeOf(event);
    expect(await event).toEqual({ kind: "event", payload: { value: true } });
    const request = runRequest(dag.dagId, "ready", resumed({ kind: "event", payload: { value: true } }, state));
    expect(await artifact.run(request, new FakeHost())).toEqual({
      kind: "success",
      returnValue: true,
      branch: { kind: "follow", taskIds: ["yes"] },
    });
  });

  test("times out when no triggerer did it, and counts a failed trigger as an error of a poke", async () => {
    const { run } = place(never, { mode: "deferrable", timeout: 100 });
    expect(await run(resumed({ kind: "timeout" }, null, 230))).toMatchObject({
      kind: "failed",
      retryable: false,
      error: { name: "SensorTimeout" },
    });
    const error = { name: "Error", message: "blocked its process" };
    expect(await failure(run(resumed({ kind: "failed", error })))).toBe(
      'TriggerFailed: the trigger "sensor.poke" failed: Error: blocked its process',
    );
    const soft = place(never, { mode: "deferrable", softFail: true });
    expect(await soft.run(resumed({ kind: "failed", error }))).toMatchObject({ kind: "skipped" });
  });
});

describe("the interval between two pokes", () => {
  const interval = (options: SensorOptions, pokes: number, elapsed: number) =>
    pokeIntervalSeconds(readSensorOptions(options, {}).settings, pokes, elapsed, "dag#task#start");

  test("is the same each time without backoff, whatever is left of the timeout", () => {
    expect(interval({ pokeInterval: 0.5, timeout: 10 }, 9, 9.9)).toBe(0.5);
  });

  test("doubles with backoff, with a jitter of up to as much again", () => {
    const options = { exponentialBackoff: true, pokeInterval: 60, timeout: 1e9 };
    for (const [pokes, atLeast] of [1, 2, 3, 4].map((n) => [n, 30 * 2 ** (n - 1)] as const)) {
      expect(interval(options, pokes, 0)).toBeGreaterThanOrEqual(atLeast);
      expect(interval(options, pokes, 0)).toBeLessThan(2 * atLeast);
    }
    // SHA-1 of "dag#task#start#2" modulo 60, computed apart.
    expect(interval(options, 2, 0)).toBe(60 + JITTER);
    expect(interval({ exponentialBackoff: true, pokeInterval: 0.1, timeout: 1e9 }, 1, 0)).toBe(1);
  });

  test("never goes beyond what is left of the timeout, nor beyond maxWait", () => {
    const options = { exponentialBackoff: true, pokeInterval: 60, timeout: 1000 };
    expect(interval(options, 2, 990.7)).toBe(10);
    expect(interval(options, 5000, 0)).toBe(1000);
    expect(interval({ ...options, maxWait: 45 }, 3, 0)).toBe(45);
  });
});

/** int(hashlib.sha1(b"dag#task#start#2").hexdigest(), 16) % 60 */
const JITTER = 6;

test.each<[object, string]>([
  [
    { mode: "deferable" },
    'mode must be one of "poke", "reschedule", "deferrable", got "deferable"; did you mean "deferrable"?',
  ],
  [{ timeout: 0 }, "timeout must be a number of seconds, positive, got 0"],
  [{ pokeInterval: -1 }, "pokeInterval must be a number of seconds, positive, got -1"],
  [{ softFail: true, neverFail: true }, "softFail and neverFail exclude each other"],
  [{ pokeIntervall: 1 }, 'unknown option "pokeIntervall"; did you mean "pokeInterval"?'],
])("what is wrong with a sensor is reported when the DAG is read (%#)", (options, problem) => {
  expect(problemsOf(place(never, options).dag)).toEqual([`task "only": ${problem}`]);
});
