// Variables and connections in the database: what is secret of them is encrypted on the way in and opened on the way out.
// A value that cannot be opened is an error that names it, never an empty value, and it does not harm any other.
import type { Json } from "@millrace/sdk/spec";
import type { Queryable } from "../db/database.ts";
import {
  addConnectionRow,
  addVariable,
  deleteConnectionRow,
  deleteVariable,
  readConnectionRow,
  readConnectionRows,
  readVariable,
  readVariables,
  writeConnectionRow,
  writeVariable,
  type ConnectionRow,
  type VariableRow,
} from "../db/statements/index.ts";
import { AppError, messageOf } from "../errors/index.ts";
import type { Logger } from "../observability/index.ts";
import type { SecretsBackend } from "./backend.ts";
import type { Cipher, SecretPlace } from "./cipher.ts";
import { checkConnectionId, type Connection } from "./connection-forms.ts";

/** One that is listed: `problem` says why its secret could not be read. */
export interface StoredVariable {
  readonly key: string;
  readonly value: string | undefined;
  readonly description: string | null;
  readonly isEncrypted: boolean;
  readonly problem?: string;
}

export interface StoredConnection extends Connection {
  readonly isEncrypted: boolean;
  readonly isExtraEncrypted: boolean;
  readonly problem?: string;
}

/** `add` refuses what exists. */
export type WriteMode = "put" | "add";

const MAX_KEY = 250;

export class StoredSecrets implements SecretsBackend {
  readonly name = "metastore";
  readonly #db: Queryable;
  readonly #cipher: Cipher;
  readonly #log: Logger;
  #hasWarned = false;

  constructor(db: Queryable, cipher: Cipher, log: Logger) {
    this.#db = db;
    this.#cipher = cipher;
    this.#log = log;
  }

  /** @throws AppError SECRET_UNREADABLE */
  async getVariable(key: string): Promise<string | undefined> {
    const [row] = await this.#db.run(readVariable, [key]);
    return row === undefined ? undefined : this.#valueOf(row);
  }

  async listVariables(): Promise<StoredVariable[]> {
    return (await this.#db.run(readVariables, [])).map((row) => this.#storedVariable(row));
  }

  /** As `listVariables`, of one. */
  async findVariable(key: string): Promise<StoredVariable | undefined> {
    const [row] = await this.#db.run(readVariable, [key]);
    return row === undefined ? undefined : this.#storedVariable(row);
  }

  /** @throws AppError VARIABLE_INVALID or, adding, VARIABLE_EXISTS */
  async setVariable(key: string, value: string, description?: string | null, mode: WriteMode = "put"): Promise<void> {
    if (key.length === 0 || key.length > MAX_KEY) {
      throw new AppError("VARIABLE_INVALID", { key, cause: `a key has 1 to ${MAX_KEY} characters` });
    }
    if (`${key}${value}${description ?? ""}`.includes("\0")) {
      throw new AppError("VARIABLE_INVALID", { key, cause: "it holds a zero byte, which Postgres cannot store" });
    }
    const [val, isEncrypted] = this.#seal(value, { column: "variable.val", row: key });
    const statement = mode === "put" ? writeVariable : addVariable;
    const written = await this.#db.run<readonly [string, string, string | null, boolean], { isNew: boolean }>(
      statement,
      [key, val, description ?? null, isEncrypted],
    );
    if (written.length === 0) throw new AppError("VARIABLE_EXISTS", { key });
  }

  /** Whether there was one. */
  async deleteVariable(key: string): Promise<boolean> {
    return (await this.#db.run(deleteVariable, [key])).length > 0;
  }

  /** @throws AppError SECRET_UNREADABLE */
  async getConnection(connectionId: string): Promise<Connection | undefined> {
    const [row] = await this.#db.run(readConnectionRow, [connectionId]);
    return row === undefined ? undefined : this.#open(row);
  }

  async listConnections(): Promise<StoredConnection[]> {
    return (await this.#db.run(readConnectionRows, [])).map((row) => this.#storedConnection(row));
  }

  async findConnection(connectionId: string): Promise<StoredConnection | undefined> {
    const [row] = await this.#db.run(readConnectionRow, [connectionId]);
    return row === undefined ? undefined : this.#storedConnection(row);
  }

  /** @throws AppError CONNECTION_INVALID or, adding, CONNECTION_EXISTS */
  async setConnection(connection: Connection, mode: WriteMode = "put"): Promise<void> {
    const { connectionId, connType, description, host, schema, login, password, port, extra } = connection;
    checkConnectionId(connectionId);
    const texts = Object.entries({ connType, description, host, schema, login, password });
    for (const [name, text] of texts) {
      if (text?.includes("\0") === true) {
        throw new AppError("CONNECTION_INVALID", { connectionId, cause: `${name} holds a zero byte` });
      }
    }
    const tooLong = Object.entries({ conn_type: connType, host, schema }).find(([, text]) => (text?.length ?? 0) > 500);
    if (tooLong !== undefined) {
      throw new AppError("CONNECTION_INVALID", { connectionId, cause: `${tooLong[0]} has more than 500 characters` });
    }
    const seal = (text: string | undefined, column: SecretPlace["column"]): readonly [string | null, boolean] =>
      text === undefined ? [null, false] : this.#seal(text, { column, row: connectionId });
    const [sealedPassword, isEncrypted] = seal(password, "connection.password");
    const [sealedExtra, isExtraEncrypted] = seal(
      extra === undefined ? undefined : JSON.stringify(extra),
      "connection.extra",
    );
    const row = [
      ...([connectionId, connType, description ?? null, host ?? null, schema ?? null, login ?? null] as const),
      ...([sealedPassword, port ?? null, sealedExtra, isEncrypted, isExtraEncrypted] as const),
    ] as const;
    const written =
      mode === "put" ? await this.#db.run(writeConnectionRow, row) : await this.#db.run(addConnectionRow, row);
    if (written.length === 0) throw new AppError("CONNECTION_EXISTS", { connectionId });
  }

  /** Whether there was one. */
  async deleteConnection(connectionId: string): Promise<boolean> {
    return (await this.#db.run(deleteConnectionRow, [connectionId])).length > 0;
  }

  #seal(text: string, place: SecretPlace): readonly [string, boolean] {
    if (this.#cipher.canEncrypt) return [this.#cipher.encrypt(text, place), true];
    if (!this.#hasWarned) {
      this.#log.warn(
        "core.encryption_key is not set: variables and connections are stored in plain text. Set a key, then `millrace secrets rotate-key` encrypts them",
      );
    }
    this.#hasWarned = true;
    return [text, false];
  }

  #unseal(text: string, isSealed: boolean, place: SecretPlace, what: string): string {
    if (!isSealed) return text;
    try {
      return this.#cipher.decrypt(text, place);
    } catch (error) {
      throw new AppError("SECRET_UNREADABLE", { what, cause: messageOf(error) }, { cause: error });
    }
  }

  #valueOf({ key, val, isEncrypted }: VariableRow): string {
    return this.#unseal(val, isEncrypted, { column: "variable.val", row: key }, `Variable ${key}`);
  }

  #storedVariable(row: VariableRow): StoredVariable {
    const { key, description, isEncrypted } = row;
    try {
      return { key, description, isEncrypted, value: this.#valueOf(row) };
    } catch (error) {
      return { key, description, isEncrypted, value: undefined, problem: messageOf(error) };
    }
  }

  #storedConnection(row: ConnectionRow): StoredConnection {
    const { isEncrypted, isExtraEncrypted } = row;
    try {
      return { ...this.#open(row), isEncrypted, isExtraEncrypted };
    } catch (error) {
      const bare = { ...row, password: null, extra: null };
      return { ...this.#open(bare), isEncrypted, isExtraEncrypted, problem: messageOf(error) };
    }
  }

  #open(row: ConnectionRow): Connection {
    const { connectionId, connType, description, host, schema, login, port } = row;
    const unseal = (text: string | null, isSealed: boolean, column: SecretPlace["column"], part: string) =>
      text === null
        ? undefined
        : this.#unseal(text, isSealed, { column, row: connectionId }, `The ${part} of connection ${connectionId}`);
    const password = unseal(row.password, row.isEncrypted, "connection.password", "password");
    const extra = unseal(row.extra, row.isExtraEncrypted, "connection.extra", "extra");
    return {
      connectionId,
      connType,
      ...(description === null ? {} : { description }),
      ...(host === null ? {} : { host }),
      ...(schema === null ? {} : { schema }),
      ...(login === null ? {} : { login }),
      ...(password === undefined ? {} : { password }),
      ...(port === null ? {} : { port }),
      ...(extra === undefined ? {} : { extra: JSON.parse(extra) as Record<string, Json> }), // as it was stored
    };
  }
}
