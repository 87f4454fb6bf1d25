// The pokes of a sensor, wherever they happen: in a worker one after the other, in a worker one at a time, or in a
// triggerer. INVARIANT: the clock of the timeout is the try's, so each of them begins with what the ones before it used.
import { FailTask, SkipTask } from "../errors/task-signals.ts";
import { SensorTimeout } from "../errors/wait-errors.ts";
import { describeError } from "../runtime/outcome-of-error.ts";
import { runScopes, type RunScope } from "../runtime/run-scope.ts";
import { LONGEST_TIMER, sleep } from "../runtime/sleep.ts";
import { pokeIntervalSeconds } from "./poke-interval.ts";
import { asPokeReturn } from "./poke-return.ts";
import type { SensorSettings } from "./sensor-options.ts";

/** What a poke is told. */
export interface PokeContext {
  /** Aborted when the sensor's timeout is over or the attempt has to stop. `getContext().signal` is the same. */
  readonly signal: AbortSignal;
  /** 1 for the first poke of the try. */
  readonly pokeNumber: number;
  /** Since the first start of the try. */
  readonly elapsedSeconds: number;
}

export type Poke = (context: PokeContext) => unknown;

/** Where a try stands when a process begins to watch for it. */
export interface Progress {
  readonly elapsed: number;
  readonly pokes: number;
}

export type PokeEnd =
  { readonly kind: "done"; readonly value: unknown } | { readonly kind: "again"; readonly seconds: number };

/** A poke that begins when the timeout is as good as over is the last one, and still gets this long. Seconds. */
const LAST_POKE = 10;

export class Watch {
  readonly #poke: Poke;
  readonly #settings: SensorSettings;
  readonly #scope: RunScope;
  readonly #startedAt: number;
  #pokes: number;

  constructor(poke: Poke, settings: SensorSettings, scope: RunScope, progress: Progress) {
    this.#poke = poke;
    this.#settings = settings;
    this.#scope = scope;
    this.#startedAt = performance.now() - progress.elapsed * 1000;
    this.#pokes = progress.pokes;
  }

  get pokes(): number {
    return this.#pokes;
  }

  /** Seconds since the first start of the try. */
  elapsed(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }

  /** Pokes until it is done. */
  async untilDone(firstAfter = 0): Promise<unknown> {
    for (let wait = firstAfter; ;) {
      if (wait > 0) await sleep(wait, this.#scope.host.signal).catch(() => this.#stopped());
      const end = await this.once();
      if (end.kind === "done") return end.value;
      wait = end.seconds;
    }
  }

  /** @throws SkipTask, SensorTimeout, or what the poke threw, as the options say */
  async once(): Promise<PokeEnd> {
    this.#pokes++;
    const returned = await this.#attempt();
    if (returned.done) return { kind: "done", value: returned.value };
    const elapsed = this.elapsed();
    if (elapsed > this.#settings.timeout) throw timedOut(this.#settings, elapsed);
    const { dagId, taskId, idempotencyKey } = this.#scope.context;
    const seed = `${dagId}#${taskId}#${idempotencyKey}`;
    return { kind: "again", seconds: pokeIntervalSeconds(this.#settings, this.#pokes, elapsed, seed) };
  }

  async #attempt() {
    const { softFail, silentFail, neverFail } = this.#settings;
    try {
      return asPokeReturn(await this.#bounded());
    } catch (thrown) {
      if (this.#scope.host.signal.aborted) this.#stopped();
      if (thrown instanceof OverTime) throw timedOut(this.#settings, this.elapsed());
      if (thrown instanceof SkipTask) throw thrown;
      const isFinal = thrown instanceof FailTask;
      if (silentFail && !isFinal) {
        const { name, message, stack } = describeError(thrown);
        this.#scope.host.log("error", `poke ${this.#pokes} failed: ${stack ?? `${name}: ${message}`}`);
        return asPokeReturn(false);
      }
      if (neverFail || (softFail && isFinal)) throw skipped(thrown);
      throw thrown;
    }
  }

  /** The attempt has to stop. Its `executionTimeout` is a failure as any other, which can be made a skip. */
  #stopped(): never {
    const { softFail, neverFail } = this.#settings;
    const reason: unknown = this.#scope.host.signal.reason;
    const isTimeout = reason instanceof Error && reason.name === "TaskTimeout";
    throw isTimeout && (softFail || neverFail) ? skipped(reason) : reason;
  }

  /** Ends with the attempt and with the timeout, also when the poke does not. */
  async #bounded(): Promise<unknown> {
    const elapsedSeconds = this.elapsed();
    const overTime = new AbortController();
    const left = Math.max(this.#settings.timeout - elapsedSeconds, LAST_POKE) * 1000;
    const timer = setTimeout(() => overTime.abort(new OverTime()), Math.min(left, LONGEST_TIMER));
    const signal = AbortSignal.any([this.#scope.host.signal, overTime.signal]);
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)));
      });
    });
    try {
      const context = { signal, pokeNumber: this.#pokes, elapsedSeconds };
      const poked = runScopes.run(withSignal(this.#scope, signal), async () => this.#poke(context));
      return await Promise.race([poked, aborted]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The reason with which a poke is aborted that goes on for longer than its sensor may. */
class OverTime extends Error {
  override readonly name: string = "SensorTimeout";
  override readonly message = "the sensor's timeout is over";
}

/** As Airflow words it. */
export function timedOut({ timeout, softFail }: SensorSettings, elapsed: number): SkipTask | SensorTimeout {
  const message = `the sensor has timed out: ${elapsed.toFixed(1)} s are more than its timeout of ${timeout} s`;
  return softFail ? new SkipTask(message) : new SensorTimeout(message);
}

/** A failure that softFail or neverFail turns into a skip. */
export function skipped(thrown: unknown): SkipTask {
  const { name, message } = describeError(thrown);
  return new SkipTask(`skipped instead of failed: ${name}: ${message}`, { cause: thrown });
}

/** The scope of one poke, which ends before its attempt does. */
function withSignal(scope: RunScope, signal: AbortSignal): RunScope {
  return {
    ...scope,
    context: Object.freeze({ ...scope.context, signal }),
    get hasEnded() {
      return scope.hasEnded;
    },
  };
}
