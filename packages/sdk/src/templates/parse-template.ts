// From the text of a template to its nodes. What the parser does not know is taken out before and put back as names:
// `{% raw %}`, a `{#` that no `#}` follows (bash writes `${#array[@]}`), and the last line break.
import { parse, tokenize } from "@huggingface/jinja";
import type { Node } from "./nodes.ts";
import { TemplateError } from "./template-error.ts";

export interface ParsedTemplate {
  readonly body: readonly Node[];
  /** Text by the name that stands for it. */
  readonly raw: ReadonlyMap<string, string>;
  /** What the parser cuts off the end. */
  readonly ending: string;
}

/** How deep options may nest. */
export const MAX_DEPTH = 20;
const MAX_SOURCE = 1024 * 1024;
const RAW = /\{%-?\s*raw\s*-?%\}([\s\S]*?)\{%-?\s*endraw\s*-?%\}/g;
const RAW_NAME = "__raw_";
const KEPT = 500;
const parsed = new Map<string, ParsedTemplate>();

/** Whether a text has anything of a template in it. */
export const isTemplate = (text: string): boolean => /\{[{%#]/.test(text);

/** Whether any text in a value is one. */
export function hasTemplate(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return isTemplate(value);
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return false;
  return Object.values(value).some((item) => hasTemplate(item, depth + 1));
}

/** @throws TemplateError for wrong syntax */
export function parseTemplate(source: string): ParsedTemplate {
  const known = parsed.get(source);
  if (known !== undefined) return known;
  if (source.length > MAX_SOURCE)
    throw new TemplateError(`it has ${source.length} characters, more than ${MAX_SOURCE}`);
  const raw = new Map<string, string>();
  const put = (text: string): string => {
    const name = `${RAW_NAME}${raw.size}`;
    raw.set(name, text);
    return `{{ ${name} }}`;
  };
  const withoutRaw = source.replace(RAW, (_whole, text: string) => put(text));
  const lastEnd = withoutRaw.lastIndexOf("#}");
  const prepared = withoutRaw.replace(/\{#/g, (mark, at: number) => (at > lastEnd ? put(mark) : mark));
  let body: readonly Node[];
  try {
    // The parser's own classes, told apart by `type` as nodes.ts lists them.
    body = (parse(tokenize(prepared)) as unknown as { readonly body: readonly Node[] }).body;
  } catch (error) {
    throw new TemplateError(`wrong syntax: ${wordsOf(error)}`);
  }
  const result = { body, raw, ending: prepared.endsWith("\n") ? "\n" : "" };
  if (parsed.size >= KEPT) parsed.clear();
  parsed.set(source, result);
  return result;
}

export const isRawName = (name: string): boolean => name.startsWith(RAW_NAME);

function wordsOf(error: unknown): string {
  if (error instanceof RangeError) return "it nests too deep";
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^Parser Error: /, "").replace(/\.$/, "");
}
