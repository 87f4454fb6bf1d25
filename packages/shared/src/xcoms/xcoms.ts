// The one door to XComs' values, whose rows are in Postgres and whose large values may be in an object store. Workers,
// triggerers, the API and the command line come through here; processes that run user code have no way to the store.
// INVARIANT: no object without a row of xcom_object, which is made before it and says when it may go: a day after it was
// made if no XCom took it, an hour after its XCom went (triggers of the table xcom see to both, whoever deletes), so that
// a crash between any two steps leaves nothing behind for long, and a reader on its way finds what it was told of.
import type { Json } from "@millrace/sdk/spec";
import type { Config } from "../config/index.ts";
import { announceXComObject, claimXComObjects, forgetXComObjects, type Database } from "../db/index.ts";
import { AppError } from "../errors/index.ts";
import { objectKey, type XComOwner } from "./object-key.ts";
import { isReference, isWhole, readReference, referenceTo } from "./reference.ts";
import { shapeOf } from "./shape.ts";
import { S3Store } from "./s3-store.ts";
import type { XComStore } from "./xcom-store.ts";

type StoreConfig = Pick<Config, "core" | "common_io">;

const AT_ONCE = 100;
const FETCHED_AT_ONCE = 16;

/** The largest value that a handler may give. */
export const largestXCom = ({ core, common_io }: StoreConfig): number =>
  common_io.xcom_objectstorage_path === "" ? core.max_xcom_bytes : common_io.xcom_objectstorage_max_bytes;

export class XComs {
  readonly #db: Database;
  readonly #store: XComStore | undefined;
  readonly #prefix: string;
  readonly #threshold: number;

  constructor(db: Database, config: StoreConfig) {
    this.#db = db;
    this.#store = openStore(config);
    this.#prefix = placeOf(config).prefix;
    this.#threshold = config.common_io.xcom_objectstorage_threshold;
  }

  /**
   * What the row is to hold: the value, or a reference to it, which is stored by then.
   *
   * @throws AppError of the store, and when the value claims to be a reference
   */
  async keep(owner: XComOwner, key: string, value: Json): Promise<string> {
    if (isReference(value)) throw new AppError("XCOM_IS_REFERENCE", { taskId: owner.taskId, key });
    const json = JSON.stringify(value);
    if (this.#store === undefined || json.length * 3 <= this.#threshold) return json;
    const bytes = Buffer.from(json);
    if (bytes.byteLength <= this.#threshold) return json;
    const reference = referenceTo(objectKey(this.#prefix, owner, key), bytes, shapeOf(value));
    await this.#db.run(announceXComObject, [reference.key]);
    await this.#store.put(reference.key, bytes);
    return JSON.stringify(reference);
  }

  /**
   * The value that a row stands for.
   *
   * @throws AppError of the store, XCOM_OBJECT_MISSING, XCOM_OBJECT_DAMAGED, XCOM_STORE_NOT_CONFIGURED
   */
  async resolve(held: unknown): Promise<Json> {
    const reference = readReference(held);
    if (reference === undefined) return held as Json; // what a jsonb column holds
    if (this.#store === undefined) throw new AppError("XCOM_STORE_NOT_CONFIGURED", { key: reference.key });
    const bytes = await this.#store.get(reference.key);
    if (bytes === undefined) throw new AppError("XCOM_OBJECT_MISSING", { key: reference.key });
    if (!isWhole(reference, bytes)) throw new AppError("XCOM_OBJECT_DAMAGED", { key: reference.key });
    return JSON.parse(Buffer.from(bytes).toString()) as Json; // as it was stored, says the checksum
  }

  /** In the same order, a few at a time. */
  async resolveAll(held: readonly unknown[]): Promise<Json[]> {
    const values: Json[] = [];
    for (let from = 0; from < held.length; from += FETCHED_AT_ONCE) {
      const some = held.slice(from, from + FETCHED_AT_ONCE);
      values.push(...(await Promise.all(some.map((one) => this.resolve(one)))));
    }
    return values;
  }

  /**
   * Removes objects whose time is over. Any number of processes may do it at once. Gives how many went.
   *
   * @param isStopping asked before each object; those that were claimed by then are another round's
   */
  async removeDue(isStopping = (): boolean => false): Promise<number> {
    if (this.#store === undefined) return 0;
    let removed = 0;
    for (;;) {
      const claimed = await this.#db.run(claimXComObjects, [AT_ONCE]);
      for (const { key } of claimed) {
        if (isStopping()) return removed;
        await this.#store.delete(key);
        await this.#db.run(forgetXComObjects, [[key]]);
        removed++;
      }
      if (claimed.length < AT_ONCE) return removed;
    }
  }
}

/** `s3://bucket/prefix` in its parts. */
function placeOf({ common_io }: StoreConfig): { readonly bucket: string; readonly prefix: string } {
  const [, bucket = "", prefix = ""] = /^s3:\/\/([^/]+)\/?(.*?)\/*$/.exec(common_io.xcom_objectstorage_path) ?? [];
  return { bucket, prefix };
}

function openStore(config: StoreConfig): XComStore | undefined {
  const { common_io } = config;
  if (common_io.xcom_objectstorage_path === "") return undefined;
  return new S3Store({
    bucket: placeOf(config).bucket,
    endpoint: common_io.xcom_objectstorage_endpoint,
    region: common_io.xcom_objectstorage_region,
    accessKeyId: common_io.xcom_objectstorage_access_key_id,
    secretAccessKey: common_io.xcom_objectstorage_secret_access_key,
    sessionToken: common_io.xcom_objectstorage_session_token,
    timeoutMs: common_io.xcom_objectstorage_timeout * 1000,
  });
}
