// Failed logins by address and by user name within the last minute. An attempt counts as failed when it begins and is
// taken back when it succeeds, so that guesses sent all at once are counted before any has been answered. The limit of
// a name is higher than that of an address: a stranger should not lock the administrator out with ten requests.
import { AppError } from "@millrace/shared/errors";
import type { Clock } from "@millrace/shared/lifecycle";

const WINDOW_MS = 60_000;
const PER_ADDRESS = 10;
const PER_USER = 50;
/** Beyond this many names and addresses, those whose minute is over are forgotten; then the oldest. */
const MAX_KEYS = 10_000;

export class LoginThrottle {
  readonly #clock: Clock;
  readonly #failures = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * @returns to be called when the login succeeded
   * @throws AppError LOGIN_THROTTLED
   */
  begin(address: string, username: string): () => void {
    const now = this.#clock.now();
    const keys: [string, number][] = [
      [`address ${address}`, PER_ADDRESS],
      [`user ${username}`, PER_USER],
    ];
    const recent = keys.map(([key]) => this.#recent(key, now));
    keys.forEach(([, limit], at) => {
      const times = recent[at] ?? [];
      if (times.length < limit) return;
      const seconds = Math.ceil(((times[0] ?? now) + WINDOW_MS - now) / 1000);
      throw new AppError("LOGIN_THROTTLED", { seconds });
    });
    keys.forEach(([key], at) => this.#failures.set(key, [...(recent[at] ?? []), now]));
    this.#forget(now);
    return () => keys.forEach(([key]) => this.#takeBack(key, now));
  }

  #recent(key: string, now: number): number[] {
    return (this.#failures.get(key) ?? []).filter((at) => at > now - WINDOW_MS);
  }

  #takeBack(key: string, at: number): void {
    const times = this.#failures.get(key) ?? [];
    const index = times.lastIndexOf(at);
    if (index >= 0) times.splice(index, 1);
    if (times.length === 0) this.#failures.delete(key);
  }

  #forget(now: number): void {
    if (this.#failures.size <= MAX_KEYS) return;
    for (const key of this.#failures.keys()) if (this.#recent(key, now).length === 0) this.#failures.delete(key);
    for (const key of this.#failures.keys()) {
      if (this.#failures.size <= MAX_KEYS) break;
      this.#failures.delete(key);
    }
  }
}
