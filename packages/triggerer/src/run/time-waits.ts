// `millrace.time`: waits for a moment. All of them are one heap and one process timer for its head; while the database
// cannot be written they stay in the heap, but for the batches under way.
import { systemClock, type Clock, type Timer } from "@millrace/shared/lifecycle";
import type { DatabaseClock } from "./database-clock.ts";
import { Kwargs } from "./read-kwargs.ts";
import { TimeHeap } from "./time-heap.ts";
import { failed, type Fired, type LoadedTrigger, type Runner } from "./trigger.ts";

const BATCH = 1_000;
const BATCHES = 2;
/** setTimeout counts to 2^31 ms; and no timer sleeps through a change of the database's clock for long. */
const LONGEST_SLEEP_MS = 30_000;
const THOUSAND_YEARS_S = 3.2e10;

export class TimeWaits implements Runner {
  readonly #heap = new TimeHeap();
  readonly #now: DatabaseClock;
  readonly #fire: (fired: readonly Fired[]) => Promise<void>;
  readonly #clock: Clock;
  #batches = 0;
  #timer: Timer | undefined;
  #wakesAt = Infinity;
  #isStopped = false;

  constructor(now: DatabaseClock, fire: (fired: readonly Fired[]) => Promise<void>, clock: Clock = systemClock) {
    this.#now = now;
    this.#fire = fire;
    this.#clock = clock;
  }

  get size(): number {
    return this.#heap.size;
  }

  add(triggers: readonly LoadedTrigger[]): void {
    const wrong: Fired[] = [];
    for (const trigger of triggers) {
      try {
        this.#heap.add(trigger.id, dueOf(trigger));
      } catch (error) {
        wrong.push({ triggerId: trigger.id, outcome: failed("TriggerArguments", (error as Error).message) });
      }
    }
    if (wrong.length > 0) void this.#write(wrong);
    this.#go();
  }

  ids(): Iterable<number> {
    return this.#heap.ids();
  }

  drop(ids: readonly number[]): void {
    const gone = new Set(ids);
    this.#heap.retain((id) => !gone.has(id));
    this.#go();
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    return Promise.resolve();
  }

  #go(): void {
    if (this.#isStopped) return;
    const now = this.#now.now();
    while (this.#batches < BATCHES && this.#heap.nextDue <= now) {
      const due = this.#heap.takeDue(now, BATCH);
      void this.#write(
        due.map((wait) => ({
          triggerId: wait.id,
          outcome: { kind: "event", payload: { at: new Date(wait.due).toISOString() } },
        })),
      );
    }
    if (this.#batches < BATCHES) this.#sleep(this.#heap.nextDue, now);
  }

  #sleep(until: number, now: number): void {
    if (until === Infinity || (this.#timer !== undefined && this.#wakesAt <= until)) return;
    this.#timer?.cancel();
    this.#wakesAt = until;
    this.#timer = this.#clock.after(Math.min(Math.max(Math.ceil(until - now), 1), LONGEST_SLEEP_MS), () => {
      this.#timer = undefined;
      this.#go();
    });
  }

  async #write(fired: readonly Fired[]): Promise<void> {
    this.#batches++;
    await this.#fire(fired);
    this.#batches--;
    this.#go();
  }
}

/** Milliseconds since 1970. */
function dueOf({ name, kwargs, createdMs }: LoadedTrigger): number {
  const read = new Kwargs(name, kwargs);
  const at = read.instantIfGiven("at");
  if (at !== undefined) return at;
  if (kwargs["afterSeconds"] === undefined) return read.wrong("at", "an ISO 8601 date, or `afterSeconds` a number");
  return createdMs + read.number("afterSeconds", 0, 0, THOUSAND_YEARS_S) * 1000;
}
