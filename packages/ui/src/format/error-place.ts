// Where in a file an error lies, as its stack says.
export interface ErrorPlace {
  readonly message: string;
  /** `etl.ts:12:5`, or the file alone when the stack names no line of it. */
  readonly place: string;
}

export function errorPlace(filename: string, stack: string): ErrorPlace {
  const lines = stack.split("\n").map((line) => line.trim());
  const message = lines.find((line) => line !== "" && !line.startsWith("at ")) ?? "The file could not be read.";
  const base = filename.split("/").at(-1) ?? filename;
  const escaped = base.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const found = new RegExp(`${escaped}:(\\d+)(?::(\\d+))?`).exec(stack);
  const at = found === null ? "" : `:${found[1]}${found[2] === undefined ? "" : `:${found[2]}`}`;
  return { message, place: `${filename}${at}` };
}
