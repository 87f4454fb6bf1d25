// What an error of the database means to whoever asked: nothing of it was done, nobody knows, it cannot be asked at all
// at the moment, or it will never take what it was given.

/** The answer to a COMMIT was lost: it may have happened or not. */
export class CommitUnknownError extends Error {
  override readonly name = "CommitUnknownError";
}

const ROLLED_BACK = new Set([
  "40001", // serialization failure
  "40P01", // deadlock
  "55P03", // lock timeout
]);

export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** A single statement commits by itself: when its connection is lost, nobody knows whether it was. */
export function wasRolledBack(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && ROLLED_BACK.has(state);
}

/** Before a commit is asked for, nothing of a transaction stays when its connection is lost. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error);
  // 08: connection exception; 57P01 to 57P03: the server shuts down, has crashed, or is starting.
  if (state !== undefined) return /^(08|57P0[123])/.test(state);
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return (
    (typeof code === "string" && /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_AGAIN)/.test(code)) ||
    (typeof message === "string" &&
      // knex puts the statement before it.
      /(?:^| - )(Connection terminated|Client has encountered a connection error|Query read timeout)/.test(message))
  );
}

/** Its statement was ended before it was done: it took longer than it may, or somebody who looks after the server said so. */
export function isCancelled(error: unknown): boolean {
  return sqlState(error) === "57014";
}

/**
 * It cannot be asked now, and may be again in a moment: it is away, starting, has no connection left, or is too busy: what
 * was repeated and still met a lock or a conflict, or was cancelled.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof CommitUnknownError || isConnectionLost(error)) return true;
  if (wasRolledBack(error) || isCancelled(error)) return true;
  const message = (error as { message?: unknown } | null)?.message;
  // 53: out of connections, memory or disk.
  return sqlState(error)?.startsWith("53") === true || message === "timeout exceeded when trying to connect";
}

/** It will never take this: data that it cannot hold, or a rule of the tables. Asking again changes nothing. */
export function isRefused(error: unknown): boolean {
  // 22: data exception; 23: constraint; 54: too large or too deep; P0: raised by a trigger.
  return /^(22|23|54|P0)/.test(sqlState(error) ?? "");
}
