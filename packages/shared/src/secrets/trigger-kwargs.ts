// What handlers hand to the triggers of their waits, as it is kept: encrypted when there is a key, bound to the attempt that
// waits. What a DAG file itself says, for its watchers and for tasks that begin with a wait, stands in its spec as well and
// is kept as it is; so are rows written without a key.
import type { Cipher } from "./cipher.ts";

type Seals = Pick<Cipher, "canEncrypt" | "encrypt">;

/** @param json an object as JSON text, which begins with a brace, as no ciphertext does */
export const sealKwargs = (cipher: Seals, json: string, attemptId: string): string =>
  cipher.canEncrypt ? cipher.encrypt(json, { column: "trigger.kwargs", row: attemptId }) : json;

export const isSealed = (stored: string): boolean => !stored.trimStart().startsWith("{") && stored.startsWith("v");

/** @throws CannotDecrypt */
export const openKwargs = (cipher: Pick<Cipher, "decrypt">, stored: string, attemptId: string | null): string =>
  isSealed(stored) ? cipher.decrypt(stored, { column: "trigger.kwargs", row: attemptId ?? "" }) : stored;
