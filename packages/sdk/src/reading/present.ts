/** An object without its undefined properties: `exactOptionalPropertyTypes` tells "absent" from "undefined". */
export function present<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // The entries that are left are those of the type.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
