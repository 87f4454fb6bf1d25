// Redis, as far as it can be relied on: wakes for the schedulers and messages for the workers, which get lost, come late
// and come twice until everything is healed.
import type { RunRow } from "../engine/rows.ts";
import type { AttemptKey } from "../engine/task-statements.ts";
import type { Process } from "./fibers.ts";
import { HEALED, type Stage } from "./stage.ts";

const SOON = 10;
const LATE = 15_000;

export interface Wake {
  readonly run: RunRow;
  /** null: the run itself is to be looked at. */
  readonly taskId: string | null;
}

export class Network {
  readonly #stage: Stage;
  readonly #schedulers: readonly Process[];
  readonly #deliver: (message: AttemptKey) => void;
  readonly #wakes: Wake[] = [];
  /** Whether queued runs may have become free to start. */
  hasRoom = true;

  constructor(stage: Stage, schedulers: readonly Process[], deliver: (message: AttemptKey) => void) {
    this.#stage = stage;
    this.#schedulers = schedulers;
    this.#deliver = deliver;
  }

  get hasWakes(): boolean {
    return this.#wakes.length > 0;
  }

  takeWakes(): readonly Wake[] {
    return this.#wakes.splice(0);
  }

  wake(run: RunRow, taskId: string | null): void {
    const ms = this.#transit();
    if (ms === undefined) return;
    this.#stage.agenda.after(ms, () => {
      this.#wakes.push({ run, taskId });
      this.#rouseOne();
    });
  }

  send(message: AttemptKey): void {
    const { agenda, random } = this.#stage;
    for (let copies = !this.#isHealed && random.chance(0.1) ? 2 : 1; copies > 0; copies--) {
      const ms = this.#transit();
      if (ms !== undefined) agenda.after(ms, () => this.#deliver(message));
    }
  }

  get #isHealed(): boolean {
    return this.#stage.agenda.now >= HEALED;
  }

  /** How long something takes; undefined: it is lost. */
  #transit(): number | undefined {
    const { random } = this.#stage;
    if (this.#isHealed) return random.integer(SOON);
    if (random.chance(0.1)) return undefined;
    return random.integer(random.chance(0.1) ? LATE : SOON);
  }

  #rouseOne(): void {
    for (const scheduler of this.#schedulers) {
      if (scheduler.isAlive && this.#stage.driver.rouse(scheduler)) return;
    }
  }
}
