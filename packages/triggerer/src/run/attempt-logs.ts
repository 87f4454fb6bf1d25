// What triggers say, in the logs of the attempts that wait for them: those of the worker before the wait and after it.
// The worker of the attempt has closed the file by then, so lines are appended.
import { waitingAttempts, type Database } from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import {
  AttemptLog,
  attemptLogPath,
  type AttemptLogKey,
  type Logger,
  type LogRedactor,
} from "@millrace/shared/observability";

export interface Line {
  readonly level: string;
  readonly logger: string;
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Logs kept open for further lines; the one that was not used for longest is closed. */
const OPEN = 500;

export class AttemptLogs {
  readonly #db: Database;
  readonly #folder: string;
  readonly #log: Logger;
  readonly #redactor: LogRedactor;
  readonly #open = new Map<string, AttemptLog>();
  readonly #closing = new Set<Promise<void>>();

  constructor(db: Database, folder: string, log: Logger, redactor: LogRedactor) {
    this.#redactor = redactor;
    this.#db = db;
    this.#folder = folder;
    this.#log = log;
  }

  write(attempt: AttemptLogKey, { level, logger, message, fields }: Line): void {
    const path = attemptLogPath(this.#folder, attempt);
    const log = this.#open.get(path) ?? new AttemptLog(path, this.#log, this.#redactor);
    this.#open.delete(path);
    this.#open.set(path, log);
    log.write(level, logger, message, fields);
    if (this.#open.size <= OPEN) return;
    for (const [oldest, closed] of this.#open) {
      this.#open.delete(oldest);
      this.#close(closed);
      break;
    }
  }

  /** For triggers of which only the id is known: their attempts are looked up. */
  writeFor(triggerIds: readonly number[], line: Line): void {
    this.#db.run(waitingAttempts, [triggerIds]).then(
      (attempts) => {
        for (const attempt of attempts) this.write(attempt, line);
      },
      (error: unknown) =>
        this.#log.warn({ cause: messageOf(error), line: line.message }, "a line of a task log was lost"),
    );
  }

  /** Waits until what was said of this attempt can be read. */
  async settle(attempt: AttemptLogKey): Promise<void> {
    await this.#open.get(attemptLogPath(this.#folder, attempt))?.settle();
  }

  async close(): Promise<void> {
    for (const log of this.#open.values()) this.#close(log);
    this.#open.clear();
    await Promise.all(this.#closing);
  }

  #close(log: AttemptLog): void {
    const closing = log.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
