/** Where large values are kept: whole, under keys that are never used twice. */
export interface XComStore {
  /** @throws AppError of the store */
  put(key: string, value: Uint8Array): Promise<void>;
  /** Undefined when there is nothing under the key. @throws AppError of the store */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Also when there is nothing under the key. @throws AppError of the store */
  delete(key: string): Promise<void>;
}
