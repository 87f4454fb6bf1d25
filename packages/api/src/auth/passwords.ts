// The administrator's password, kept only as a salted hash. A wrong name costs the same time as a wrong password, so that
// an answer does not tell which it was.
import { randomBytes, scrypt, timingSafeEqual, type BinaryLike, type ScryptOptions } from "node:crypto";
import type { Config } from "@millrace/shared/config";
import type { User } from "./tokens.ts";

const KEY_BYTES = 64;
const COST: ScryptOptions = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

const derive = (password: string, salt: BinaryLike): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(password.normalize("NFKC"), salt, KEY_BYTES, COST, (error, key) =>
      error === null ? resolve(key) : reject(error),
    ),
  );

export class Passwords {
  readonly #admin: string;
  readonly #salt = randomBytes(16);
  readonly #hash: Promise<Buffer> | undefined;

  constructor(config: Config["api_auth"]) {
    this.#admin = config.admin_user;
    this.#hash = config.admin_password === "" ? undefined : derive(config.admin_password, this.#salt);
  }

  /** Undefined: the name or the password is wrong, or no password was configured. */
  async check(username: string, password: string): Promise<User | undefined> {
    const given = await derive(password, this.#salt);
    const kept = (await this.#hash) ?? randomBytes(KEY_BYTES);
    const matches = timingSafeEqual(given, kept);
    return matches && username === this.#admin ? { name: username, role: "admin" } : undefined;
  }
}
