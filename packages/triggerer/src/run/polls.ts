// Built-in triggers that look again and again. Each is looked at when it is added, so that what is true already fires at
// once, and then after each pause. Kinds that ask the database do so in one statement for all that are due; the others are
// looked at one by one, a bounded number at a time. A look that fails is followed by the next one; only an answer ends a
// wait, or trouble of which the kind says that it cannot pass.
import type { TriggerOutcome } from "@millrace/sdk/runtime";
import { messageOf } from "@millrace/shared/errors";
import { systemClock, type Clock, type Timer } from "@millrace/shared/lifecycle";
import { Kwargs } from "./read-kwargs.ts";
import { TimeHeap } from "./time-heap.ts";
import { failed, GiveUp, type Fired, type LoadedTrigger, type Runner } from "./trigger.ts";

interface Kind<W> {
  readonly name: string;
  /** @throws Error with a sentence for people. */
  read(kwargs: Kwargs, trigger: LoadedTrigger): { readonly wait: W; readonly pollMs: number };
  stop?(): Promise<void>;
}

export interface BatchKind<W> extends Kind<W> {
  /** One answer for each, in their order; undefined: not yet. */
  readonly lookAtAll: (waits: readonly W[]) => Promise<readonly (TriggerOutcome | undefined)[]>;
}

export interface SingleKind<W> extends Kind<W> {
  readonly atOnce: number;
  /** Undefined: not yet. A rejection: not known now, unless it is a GiveUp. */
  readonly look: (wait: W, signal: AbortSignal) => Promise<TriggerOutcome | undefined>;
}

export interface PollsDeps<W> {
  readonly kind: BatchKind<W> | SingleKind<W>;
  readonly fire: (fired: readonly Fired[]) => Promise<void>;
  /** A look failed: said in the log of the attempt that waits. */
  readonly onTrouble: (triggerId: number, message: string) => void;
  readonly clock?: Clock;
}

interface Held<W> {
  readonly wait: W;
  readonly pollMs: number;
  readonly dropped: AbortController;
  /** The last trouble, said once. */
  trouble: string;
}

const BATCH = 500;

export class Polls<W> implements Runner {
  readonly #deps: PollsDeps<W>;
  readonly #clock: Clock;
  readonly #held = new Map<number, Held<W>>();
  readonly #next = new TimeHeap();
  /** Due, for their turn. */
  readonly #waiting: number[] = [];
  readonly #looks = new Set<Promise<void>>();
  #timer: Timer | undefined;
  #wakesAt = Infinity;
  #isStopped = false;

  constructor(deps: PollsDeps<W>) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
  }

  get size(): number {
    return this.#held.size;
  }

  ids(): Iterable<number> {
    return this.#held.keys();
  }

  add(triggers: readonly LoadedTrigger[]): void {
    for (const trigger of triggers) {
      if (this.#held.has(trigger.id)) continue;
      try {
        const read = this.#deps.kind.read(new Kwargs(trigger.name, trigger.kwargs), trigger);
        this.#held.set(trigger.id, { ...read, dropped: new AbortController(), trouble: "" });
        this.#waiting.push(trigger.id);
      } catch (error) {
        void this.#deps.fire([{ triggerId: trigger.id, outcome: failed("TriggerArguments", messageOf(error)) }]);
      }
    }
    this.#go();
  }

  drop(ids: readonly number[]): void {
    for (const id of ids) {
      this.#held.get(id)?.dropped.abort(new Error("nothing waits for the trigger any more"));
      this.#held.delete(id);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.drop([...this.#held.keys()]);
    await Promise.all(this.#looks);
    await this.#deps.kind.stop?.();
  }

  #go(): void {
    if (this.#isStopped) return;
    const now = this.#clock.now();
    // A wait that was dropped leaves its next look behind.
    for (const { id } of this.#next.takeDue(now, Infinity)) if (this.#held.has(id)) this.#waiting.push(id);
    const { kind } = this.#deps;
    const [atOnce, each] = "look" in kind ? [kind.atOnce, 1] : [1, BATCH];
    while (this.#waiting.length > 0 && this.#looks.size < atOnce) {
      const ids = this.#waiting.splice(0, each);
      const look: Promise<void> = this.#look(ids).finally(() => {
        this.#looks.delete(look);
        this.#go();
      });
      this.#looks.add(look);
    }
    this.#sleep(now);
  }

  #sleep(now: number): void {
    const until = this.#next.nextDue;
    if (until === Infinity || (this.#timer !== undefined && this.#wakesAt <= until)) return;
    this.#timer?.cancel();
    this.#wakesAt = until;
    this.#timer = this.#clock.after(Math.max(Math.ceil(until - now), 1), () => {
      this.#timer = undefined;
      this.#go();
    });
  }

  async #look(ids: readonly number[]): Promise<void> {
    const held = ids.flatMap((id) => {
      const one = this.#held.get(id);
      return one === undefined ? [] : [{ id, one }];
    });
    if (held.length === 0) return;
    let answers: readonly (TriggerOutcome | undefined)[] = [];
    try {
      answers = await this.#ask(held.map(({ one }) => one));
      for (const { one } of held) one.trouble = "";
    } catch (error) {
      if (error instanceof GiveUp) answers = held.map(() => failed(error.name, error.message));
      else for (const { id, one } of held) this.#tellTrouble(id, one, messageOf(error));
    }
    const fired: Fired[] = [];
    for (const [i, { id, one }] of held.entries()) {
      if (this.#held.get(id) !== one) continue;
      const outcome = answers[i];
      if (outcome === undefined) this.#next.add(id, this.#clock.now() + one.pollMs);
      else {
        this.#held.delete(id);
        fired.push({ triggerId: id, outcome });
      }
    }
    if (fired.length > 0) void this.#deps.fire(fired);
  }

  async #ask(held: readonly Held<W>[]): Promise<readonly (TriggerOutcome | undefined)[]> {
    const { kind } = this.#deps;
    if (!("look" in kind)) return await kind.lookAtAll(held.map((one) => one.wait));
    return await Promise.all(held.map((one) => kind.look(one.wait, one.dropped.signal)));
  }

  #tellTrouble(id: number, one: Held<W>, message: string): void {
    if (one.trouble === message || this.#held.get(id) !== one) return;
    one.trouble = message;
    this.#deps.onTrouble(id, message);
  }
}
