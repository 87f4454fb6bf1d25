// All triggers that this triggerer has, each with the runner of its kind: the one place that knows how many they are and
// which of them are being fired.
import type { TriggerOutcome } from "@millrace/sdk/runtime";
import type { Config } from "@millrace/shared/config";
import type { ClaimedTrigger, Database } from "@millrace/shared/db";
import type { Logger } from "@millrace/shared/observability";
import { messageOf } from "@millrace/shared/errors";
import { openKept, triggerPlace, type Secrets } from "@millrace/shared/secrets";
import type { Firer } from "../fire/firer.ts";
import type { AttemptLogs } from "./attempt-logs.ts";
import { checkOutcome } from "./check-outcome.ts";
import { DatabaseClock } from "./database-clock.ts";
import { assetEvents } from "./kinds/asset-events.ts";
import { externalStates } from "./kinds/external-states.ts";
import { file } from "./kinds/file.ts";
import { http } from "./kinds/http.ts";
import { sql } from "./kinds/sql.ts";
import { Polls } from "./polls.ts";
import { RedisWaits } from "./redis-waits.ts";
import { TimeWaits } from "./time-waits.ts";
import { failed, type Fired, type LoadedTrigger, type Runner } from "./trigger.ts";
import { UserTriggers } from "./user/user-triggers.ts";

export interface HoldingsDeps {
  readonly db: Database;
  readonly config: Config;
  readonly log: Logger;
  readonly logs: AttemptLogs;
  readonly secrets: Secrets;
  readonly firer: Firer;
}

const TIME = "millrace.time";

export class Holdings {
  readonly clock = new DatabaseClock();
  readonly #deps: HoldingsDeps;
  readonly #builtIn: ReadonlyMap<string, Runner>;
  readonly #user: UserTriggers;
  readonly #firing = new Set<number>();

  constructor(deps: HoldingsDeps) {
    this.#deps = deps;
    const { db, config, log, logs, secrets } = deps;
    const fire = (fired: readonly Fired[]) => this.#fire(fired);
    const onTrouble = (triggerId: number, message: string) => {
      log.debug({ trigger: triggerId, cause: message }, "a trigger could not look");
      logs.writeFor([triggerId], {
        level: "warn",
        logger: "millrace",
        message: `its trigger could not look: ${message}`,
      });
    };
    this.#builtIn = new Map<string, Runner>([
      [TIME, new TimeWaits(this.clock, fire)],
      ["millrace.external_states", new Polls({ kind: externalStates(db), fire, onTrouble })],
      ["millrace.asset_event", new Polls({ kind: assetEvents(db), fire, onTrouble })],
      ["millrace.http", new Polls({ kind: http(secrets), fire, onTrouble })],
      ["millrace.sql", new Polls({ kind: sql(secrets), fire, onTrouble })],
      ["millrace.file", new Polls({ kind: file(), fire, onTrouble })],
      ["millrace.redis", new RedisWaits({ secrets, fire, onTrouble })],
    ]);
    this.#user = new UserTriggers({ db, config, log, logs, secrets, fire });
  }

  get size(): number {
    return this.#firing.size + this.#runners().reduce((sum, runner) => sum + runner.size, 0);
  }

  add(claimed: readonly ClaimedTrigger[]): void {
    const byRunner = new Map<Runner, LoadedTrigger[]>();
    for (const { id, name, kwargs, attemptId, watcherOf, createdMs, nowMs } of claimed) {
      this.clock.observe(nowMs);
      if (this.#firing.has(id)) continue;
      const runner = this.#builtIn.get(name) ?? (name.startsWith("millrace.") ? undefined : this.#user);
      const read = this.#readKwargs(kwargs, triggerPlace(attemptId, watcherOf));
      if (runner === undefined || typeof read === "string") {
        const why =
          runner === undefined
            ? `there is no trigger ${name}`
            : `the arguments of trigger ${name} cannot be read: ${String(read)}`;
        void this.#fire([
          { triggerId: id, outcome: failed(runner === undefined ? "TriggerNotFound" : "TriggerArguments", why) },
        ]);
        continue;
      }
      const those = byRunner.get(runner);
      const trigger = { id, name, kwargs: read, createdMs };
      if (those === undefined) byRunner.set(runner, [trigger]);
      else those.push(trigger);
    }
    for (const [runner, those] of byRunner) runner.add(those);
  }

  /** Those that run something while they wait: a dropped wait for a moment costs nothing until then. */
  active(): number[] {
    return this.#runners().flatMap((runner) => (runner === this.#builtIn.get(TIME) ? [] : [...runner.ids()]));
  }

  /** Every one, sorted. */
  ids(): Int32Array {
    return Int32Array.from([...this.#firing, ...this.#runners().flatMap((runner) => [...runner.ids()])]).sort();
  }

  drop(ids: readonly number[]): void {
    if (ids.length > 0) for (const runner of this.#runners()) runner.drop(ids);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#runners().map((runner) => runner.stop()));
  }

  #runners(): Runner[] {
    return [...this.#builtIn.values(), this.#user];
  }

  /** A text: why not. */
  #readKwargs(stored: string, place: ReturnType<typeof triggerPlace>): LoadedTrigger["kwargs"] | string {
    try {
      const read: unknown = JSON.parse(openKept(this.#deps.secrets.cipher, stored, place));
      return typeof read === "object" && read !== null && !Array.isArray(read)
        ? (read as LoadedTrigger["kwargs"])
        : "they are no JSON object";
    } catch (error) {
      return error instanceof SyntaxError ? "they are no JSON object" : messageOf(error);
    }
  }

  async #fire(fired: readonly Fired[]): Promise<void> {
    for (const { triggerId } of fired) this.#firing.add(triggerId);
    const { firer, config } = this.#deps;
    await Promise.all(
      fired.map(async ({ triggerId, outcome }) => {
        await firer.fire({ triggerId, outcome: this.#checked(outcome, config.core.max_xcom_bytes) });
        this.#firing.delete(triggerId);
      }),
    );
  }

  /** Also a built-in trigger may be given more than can be kept: a body, a row, a message. */
  #checked(outcome: TriggerOutcome, maxBytes: number): TriggerOutcome {
    return outcome.kind === "failed" ? outcome : checkOutcome("of the wait", outcome, maxBytes);
  }
}
