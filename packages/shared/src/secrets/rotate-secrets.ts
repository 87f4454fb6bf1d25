// Encrypts everything anew with the newest key, a batch a transaction, so that it can be stopped and begun again. Rows that
// no key opens are left as they are and named.
import type { Database, Queryable } from "../db/database.ts";
import {
  encryptConnections,
  encryptKeptWaits,
  encryptTriggers,
  encryptVariables,
  lockConnectionsAfter,
  lockKeptWaitsAfter,
  lockTriggersAfter,
  lockVariablesAfter,
} from "../db/statements/index.ts";
import { AppError, messageOf } from "../errors/index.ts";
import type { Cipher, SecretPlace } from "./cipher.ts";
import { isSealed, renewWait, triggerPlace } from "./wait-secrets.ts";

export interface RotatedSecrets {
  /** Rows that were encrypted anew. */
  readonly rotated: number;
  /** Rows that the newest key encrypts already, or without a secret. */
  readonly current: number;
  readonly unreadable: readonly { readonly what: string; readonly cause: string }[];
}

const BATCH = 200;
const FIRST_UUID = "00000000-0000-0000-0000-000000000000";

/** @throws AppError ENCRYPTION_KEY_MISSING */
export async function rotateSecrets(db: Database, cipher: Cipher): Promise<RotatedSecrets> {
  if (!cipher.canEncrypt) throw new AppError("ENCRYPTION_KEY_MISSING");
  const all = [
    await inBatches(db, 0, async (tx, after) => await rotateVariables(tx, cipher, after)),
    await inBatches(db, 0, async (tx, after) => await rotateConnections(tx, cipher, after)),
    await inBatches(db, FIRST_UUID, async (tx, after) => await rotateWaits(tx, cipher, after)),
    await inBatches(db, 0, async (tx, after) => await rotateTriggers(tx, cipher, after)),
  ];
  return {
    rotated: all.reduce((sum, { rotated }) => sum + rotated, 0),
    current: all.reduce((sum, { current }) => sum + current, 0),
    unreadable: all.flatMap(({ unreadable }) => unreadable),
  };
}

interface Batch<Id> extends RotatedSecrets {
  readonly last: Id | undefined;
}

async function inBatches<Id>(
  db: Database,
  first: Id,
  rotate: (tx: Queryable, after: Id) => Promise<Batch<Id>>,
): Promise<RotatedSecrets> {
  let all: RotatedSecrets = { rotated: 0, current: 0, unreadable: [] };
  let after: Id | undefined = first;
  while (after !== undefined) {
    const from: Id = after;
    const batch = await db.transaction(async (tx) => await rotate(tx, from));
    all = {
      rotated: all.rotated + batch.rotated,
      current: all.current + batch.current,
      unreadable: [...all.unreadable, ...batch.unreadable],
    };
    after = batch.last;
  }
  return all;
}

async function rotateVariables(tx: Queryable, cipher: Cipher, after: number): Promise<Batch<number>> {
  const rows = await tx.run(lockVariablesAfter, [after, BATCH]);
  const unreadable: { what: string; cause: string }[] = [];
  const changed = rows.flatMap(({ id, key, val, isEncrypted }) => {
    const place = { column: "variable.val", row: key } as const;
    const renewed = renew(cipher, val, isEncrypted, place, (cause) =>
      unreadable.push({ what: `variable ${key}`, cause }),
    );
    return renewed === null ? [] : [{ id, val: renewed }];
  });
  await tx.run(encryptVariables, [changed.map(({ id }) => id), changed.map(({ val }) => val)]);
  return summary(rows, changed.length, unreadable);
}

async function rotateConnections(tx: Queryable, cipher: Cipher, after: number): Promise<Batch<number>> {
  const rows = await tx.run(lockConnectionsAfter, [after, BATCH]);
  const unreadable: { what: string; cause: string }[] = [];
  const changed = rows.flatMap(({ id, connectionId: row, password, extra, isEncrypted, isExtraEncrypted }) => {
    const part = (text: string | null, isSealed: boolean, column: SecretPlace["column"]) =>
      renew(cipher, text, isSealed, { column, row }, (cause) =>
        unreadable.push({ what: `${column} of ${row}`, cause }),
      );
    const renewed = {
      id,
      password: part(password, isEncrypted, "connection.password"),
      extra: part(extra, isExtraEncrypted, "connection.extra"),
    };
    return renewed.password === null && renewed.extra === null ? [] : [renewed];
  });
  await tx.run(encryptConnections, [
    changed.map(({ id }) => id),
    changed.map(({ password }) => password),
    changed.map(({ extra }) => extra),
  ]);
  return summary(rows, changed.length, unreadable);
}

async function rotateTriggers(tx: Queryable, cipher: Cipher, after: number): Promise<Batch<number>> {
  const rows = await tx.run(lockTriggersAfter, [after, BATCH]);
  const unreadable: { what: string; cause: string }[] = [];
  const changed = rows.flatMap(({ id, kwargs, attemptId, watcherOf }) => {
    const place = triggerPlace(attemptId, watcherOf);
    const renewed = renew(cipher, kwargs, isSealed(kwargs), place, (cause) =>
      unreadable.push({ what: `trigger ${id}`, cause }),
    );
    return renewed === null ? [] : [{ id, kwargs: renewed }];
  });
  await tx.run(encryptTriggers, [changed.map(({ id }) => id), changed.map(({ kwargs }) => kwargs)]);
  return summary(rows, changed.length, unreadable);
}

async function rotateWaits(tx: Queryable, cipher: Cipher, after: string): Promise<Batch<string>> {
  const rows = await tx.run(lockKeptWaitsAfter, [after, BATCH]);
  const unreadable: { what: string; cause: string }[] = [];
  const changed = rows.flatMap(({ id, wait, ...task }) => {
    try {
      const renewed = renewWait(cipher, wait, task);
      return renewed === null ? [] : [{ id, wait: JSON.stringify(renewed) }];
    } catch (error) {
      unreadable.push({
        what: `what task ${task.taskId} (attempt ${id}) kept while it waits`,
        cause: messageOf(error),
      });
      return [];
    }
  });
  await tx.run(encryptKeptWaits, [changed.map(({ id }) => id), changed.map(({ wait }) => wait)]);
  return summary(rows, changed.length, unreadable);
}

const summary = <Id>(
  rows: readonly { readonly id: Id }[],
  rotated: number,
  unreadable: RotatedSecrets["unreadable"],
): Batch<Id> => ({
  rotated,
  current: Math.max(0, rows.length - rotated - unreadable.length),
  unreadable,
  last: rows.length === BATCH ? rows.at(-1)?.id : undefined,
});

/** Null: nothing to do, or nothing that can be done. */
function renew(
  cipher: Cipher,
  text: string | null,
  isSealed: boolean,
  place: SecretPlace,
  onUnreadable: (cause: string) => void,
): string | null {
  if (text === null) return null;
  if (!isSealed) return cipher.encrypt(text, place);
  try {
    const opened = cipher.decrypt(text, place);
    return cipher.isCurrent(text) ? null : cipher.encrypt(opened, place);
  } catch (error) {
    onUnreadable(messageOf(error));
    return null;
  }
}
