// Encryption of what the database keeps secret: AES-256-GCM under a key derived from core.encryption_key. The place of a
// value (table, column and row) is authenticated with it, so a ciphertext that was copied to another row does not open
// there. A token names its key, so values of several keys may stand side by side while keys are rotated.
//
//   v1.<key id>.<base64url of 12 bytes nonce, ciphertext, 16 bytes tag>
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import type { Config } from "../config/options.ts";

/** Where a value stands, and of which row. */
export interface SecretPlace {
  readonly column:
    "variable.val" | "connection.password" | "connection.extra" | "trigger.kwargs" | "task_instance.next_kwargs";
  readonly row: string;
}

/** Why a value could not be read, in words for people. */
export class CannotDecrypt extends Error {
  override readonly name = "CannotDecrypt";
}

interface Key {
  readonly id: string;
  readonly bytes: Buffer;
}

export const MIN_KEY_LENGTH = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class Cipher {
  readonly #keys: readonly Key[];

  /** @param keys the first encrypts, each decrypts */
  constructor(keys: readonly string[]) {
    this.#keys = keys.map((given) => {
      const id = createHash("sha256").update(derive(given, "key id")).digest("hex").slice(0, 8);
      return { id, bytes: derive(given, "encryption") };
    });
  }

  /** Of a process. */
  static of({ core }: Pick<Config, "core">): Cipher {
    return new Cipher(readKeys(core.encryption_key));
  }

  /** Whether there is a key at all. */
  get canEncrypt(): boolean {
    return this.#keys.length > 0;
  }

  /** @throws CannotDecrypt without a key */
  encrypt(text: string, place: SecretPlace): string {
    const [key] = this.#keys;
    if (key === undefined) throw new CannotDecrypt("core.encryption_key is not set");
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", key.bytes, nonce).setAAD(placeBytes(key.id, place));
    const body = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return `v1.${key.id}.${body.toString("base64url")}`;
  }

  /** @throws CannotDecrypt */
  decrypt(token: string, place: SecretPlace): string {
    const [version, keyId = "", encoded = ""] = token.split(".");
    if (version !== "v1") throw new CannotDecrypt("it is not in a form that this version of Millrace knows");
    if (!this.canEncrypt) throw new CannotDecrypt("it is encrypted, and core.encryption_key is not set");
    const key = this.#keys.find((one) => one.id === keyId);
    if (key === undefined) {
      throw new CannotDecrypt(`it was encrypted with another key (${keyId}) than those of core.encryption_key`);
    }
    const body = Buffer.from(encoded, "base64url");
    if (body.length < NONCE_BYTES + TAG_BYTES) throw new CannotDecrypt("it is cut off");
    const decipher = createDecipheriv("aes-256-gcm", key.bytes, body.subarray(0, NONCE_BYTES))
      .setAAD(placeBytes(key.id, place))
      .setAuthTag(body.subarray(-TAG_BYTES));
    try {
      const text = decipher.update(body.subarray(NONCE_BYTES, -TAG_BYTES), undefined, "utf8");
      return text + decipher.final("utf8");
    } catch {
      throw new CannotDecrypt("it was changed, or belongs to another row");
    }
  }

  /** Whether the newest key encrypted it. */
  isCurrent(token: string): boolean {
    return token.startsWith(`v1.${this.#keys[0]?.id}.`);
  }
}

/** Keys of the option: the newest first, separated by commas. */
export const readKeys = (option: string): string[] =>
  option
    .split(",")
    .map((key) => key.trim())
    .filter((key) => key !== "");

const derive = (given: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", given, "", `millrace secrets v1: ${purpose}`, 32));

const placeBytes = (keyId: string, { column, row }: SecretPlace): Buffer =>
  Buffer.from(JSON.stringify(["v1", keyId, column, row]));
