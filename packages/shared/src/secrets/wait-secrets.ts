// What waiting tasks hand on, as it is kept: the arguments of their triggers, their own state, and the event that ends the
// wait. Encrypted when there is a key, and bound to its place, so that a ciphertext that was copied to another row does not
// open. Rows that were written without a key stay readable: what is kept is JSON, and no JSON text begins as a ciphertext does.
// A DAG file's own words (arguments of watchers, and of tasks that begin with a wait) stand in its spec and its code as well.
import { KEPT_PARTS, type KeptPart, type KeptWait } from "../db/statements/kept-waits.ts";
import type { Cipher, SecretPlace } from "./cipher.ts";

type Seals = Pick<Cipher, "canEncrypt" | "encrypt">;
type Opens = Pick<Cipher, "decrypt">;

export interface WaitingTask {
  readonly dagRunId: number;
  readonly taskId: string;
  readonly mapIndex: number;
}

/** Whose a trigger is: the attempt that waits for it or, without one, a watcher of this DAG. */
export const triggerPlace = (attemptId: string | null, watcherOf: string | null): SecretPlace => ({
  column: "trigger.kwargs",
  row: attemptId ?? `watcher of ${watcherOf ?? ""}`,
});

/** Of the task instance, not of its attempt: a try that a lost worker had goes on under a new one with what was kept. */
export const waitPlace = ({ dagRunId, taskId, mapIndex }: WaitingTask, part: KeptPart): SecretPlace => ({
  column: "task_instance.next_kwargs",
  row: JSON.stringify([dagRunId, taskId, mapIndex, part]),
});

/** @param json JSON text */
export const sealKept = (cipher: Seals, json: string, place: SecretPlace): string =>
  cipher.canEncrypt ? cipher.encrypt(json, place) : json;

export const isSealed = (stored: string): boolean => stored.startsWith("v");

/** @throws CannotDecrypt */
export const openKept = (cipher: Opens, stored: string, place: SecretPlace): string =>
  isSealed(stored) ? cipher.decrypt(stored, place) : stored;

/** What a try that has waited goes on with. @throws CannotDecrypt */
export function openWait(cipher: Opens, kept: KeptWait, task: WaitingTask): Omit<KeptWait, `sealed_${KeptPart}`> {
  const { sealed_state: state, sealed_event: event, ...plain } = kept;
  const open = (sealed: string, part: KeptPart): unknown => JSON.parse(cipher.decrypt(sealed, waitPlace(task, part)));
  return {
    ...plain,
    ...(state === undefined ? {} : { state: open(state, "state") }),
    ...(event === undefined ? {} : { event: open(event, "event") }),
  };
}

/** The same with everything under the newest key; null when it is so already. @throws CannotDecrypt */
export function renewWait(cipher: Cipher, kept: KeptWait, task: WaitingTask): KeptWait | null {
  const stale = KEPT_PARTS.filter((part) => {
    const sealed = kept[`sealed_${part}`];
    return kept[part] !== undefined || (sealed !== undefined && !cipher.isCurrent(sealed));
  });
  const opened = openWait(cipher, kept, task);
  if (stale.length === 0) return null;
  const { state: _state, event: _event, ...renewed } = { ...kept, ...opened } as Record<string, unknown>;
  for (const part of KEPT_PARTS) {
    if (opened[part] === undefined) continue;
    renewed[`sealed_${part}`] = cipher.encrypt(JSON.stringify(opened[part]), waitPlace(task, part));
  }
  return renewed;
}
