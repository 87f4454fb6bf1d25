// What a template may write into a script or a statement. Params, the conf of a run and results of other tasks come from
// outside: what a shell or a database could take for code is refused, and handed over in `env` or `params` instead.
import type { Node } from "./nodes.ts";
import { isRawName } from "./parse-template.ts";
import type { Scope } from "./scope.ts";
import { TemplateError } from "./template-error.ts";

/** What a text is code for. */
export type CodeKind = "shell" | "sql";

const KINDS = {
  shell: {
    // Letters, digits and what no shell gives a meaning to; not at first a dash, which would make it an option.
    inert: /^(?!-)[\p{L}\p{N}_@%+=:,./-]*$/u,
    advice:
      'bash could take it for code: hand it over in env and read it as "$NAME"; or write {{ … | quote }} where a word stands, or {{ … | safe }} if it is meant as code',
  },
  sql: {
    // A name, a number, a date; no comment.
    inert: /^(?!.*--)[\p{L}\p{N}_.:+-]*$/u,
    advice:
      "the database could take it for code: hand it over in params and write $1 for it, or {{ … | safe }} if it is meant as code",
  },
} as const;

/** Names whose values are of the DAG's author or of the installation. */
const OWN = new Set(
  [
    "dag task macros var conn test_mode map_index try_number",
    "logical_date ds ds_nodash ts ts_nodash ts_nodash_with_tz data_interval_start data_interval_end",
    "prev_start_date_success prev_end_date_success prev_data_interval_start_success prev_data_interval_end_success",
    "range none true false None True False",
  ].flatMap((names) => names.split(" ")),
);

/** Python's `shlex.quote`. */
export const shellQuote = (text: string): string =>
  text !== "" && /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;

/** Whether a value needs no look: its author wrote it, or took it for code by `| safe`, or quoted it. */
export function isOwnText(node: Node, kind: CodeKind, scope: Scope): boolean {
  if (node.type === "FilterExpression" && node.filter.type === "Identifier") {
    if (node.filter.value === "safe" || (kind === "shell" && node.filter.value === "quote")) return true;
  }
  return isOwn(node, scope);
}

/** A name that the template itself has given a value, as a loop does, may stand for anything: `{% for task in conf.tasks %}`. */
export const isOwn = (node: Node | readonly Node[], scope: Scope): boolean =>
  namesIn(node).every((name) => (OWN.has(name) && scope.get(name) === undefined) || isRawName(name));

/** @throws TemplateError for a text that could be taken for more than a word */
export function checkCodeText(text: string, kind: CodeKind): string {
  const { inert, advice } = KINDS[kind];
  if (inert.test(text)) return text;
  const shown = JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
  throw new TemplateError(`the value ${shown} comes from outside, and ${advice}`);
}

/** The names that an expression reads; those after a dot, and of filters, are none. */
function namesIn(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(namesIn);
  if (node instanceof Map) return [...node].flatMap(namesIn);
  if (typeof node !== "object" || node === null) return [];
  const known = node as Node; // the parser's, as all below it
  switch (known.type) {
    case "Identifier":
      return [known.value];
    case "MemberExpression":
      return [...namesIn(known.object), ...(known.computed ? namesIn(known.property) : [])];
    case "FilterExpression":
      return [...namesIn(known.operand), ...(known.filter.type === "CallExpression" ? namesIn(known.filter.args) : [])];
    case "TestExpression":
      return namesIn(known.operand);
    case "KeywordArgumentExpression":
      return namesIn(known.value);
    default:
      return Object.values(known).flatMap(namesIn);
  }
}
