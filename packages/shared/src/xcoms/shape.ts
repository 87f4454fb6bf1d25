import type { Json } from "@millrace/sdk/spec";

/**
 * What SQL asks of a value that is in the store (`statements/list-lengths.ts`): a list is its length, an object that of
 * its fields, anything else the name of its type.
 */
export type Shape = number | string | { readonly [field: string]: Shape };

/** Of the names of fields, together. */
const MAX_BYTES = 16_384;
const FIELD_BYTES = 12;

/** The fields nearest to the root come first; those beyond the bound are left out, and nothing can be mapped over them. */
export function shapeOf(value: Json): Shape {
  let room = MAX_BYTES;
  const root: { value?: Shape } = {};
  const open: { readonly value: Json; readonly put: (shape: Shape) => void }[] = [
    { value, put: (shape) => (root.value = shape) },
  ];
  for (let at = open[0], next = 1; at !== undefined; at = open[next++]) {
    const { value: one, put } = at;
    if (Array.isArray(one)) put(one.length);
    else if (typeof one !== "object" || one === null) put(one === null ? "null" : typeof one);
    else {
      // Filled in later, in place: an assignment could set a prototype.
      const shape = Object.create(null) as Record<string, Shape>;
      put(shape);
      for (const [name, inner] of Object.entries(one as Readonly<Record<string, Json>>)) {
        room -= Buffer.byteLength(name) + FIELD_BYTES;
        if (room < 0) break;
        open.push({ value: inner, put: (of) => (shape[name] = of) });
      }
    }
  }
  return root.value ?? "null";
}
