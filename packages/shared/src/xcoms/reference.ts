// What the row of an XCom holds when its value is in the object store. It has the form of a tagged value, which no value
// of a handler can have: the codec would tag an object with that key once more.
import { createHash } from "node:crypto";
import type { Shape } from "./shape.ts";

export interface Reference {
  readonly $millrace: "stored";
  readonly key: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Where its lists are, for those who map tasks over them and do not fetch the value: see `shapeOf`. */
  readonly shape: Shape;
}

export const referenceTo = (key: string, value: Uint8Array, shape: Shape): Reference => ({
  $millrace: "stored",
  key,
  bytes: value.byteLength,
  sha256: createHash("sha256").update(value).digest("hex"),
  shape,
});

/** Also of what only claims to be one. */
export const isReference = (value: unknown): boolean =>
  typeof value === "object" && value !== null && (value as { $millrace?: unknown }).$millrace === "stored";

export function readReference(value: unknown): Omit<Reference, "shape"> | undefined {
  if (!isReference(value)) return undefined;
  const { key, bytes, sha256 } = value as Partial<Record<keyof Reference, unknown>>;
  const isWhole = typeof key === "string" && typeof bytes === "number" && typeof sha256 === "string";
  return isWhole ? { $millrace: "stored", key, bytes, sha256 } : undefined;
}

/** Of the value that a row stands for. */
export const bytesOf = (held: unknown): number => readReference(held)?.bytes ?? Buffer.byteLength(JSON.stringify(held));

export const isWhole = (reference: Pick<Reference, "bytes" | "sha256">, value: Uint8Array): boolean =>
  value.byteLength === reference.bytes && createHash("sha256").update(value).digest("hex") === reference.sha256;
