// Members of texts, lists and dicts: the methods of Python's that are harmless, and nothing else.
import { bind, needInteger, needText } from "./arguments.ts";
import type { Budget } from "./budget.ts";
import { TemplateError } from "./template-error.ts";
import {
  Callable,
  isEqual,
  isList,
  isMap,
  kindOf,
  lettersOf,
  textOf,
  Thing,
  Undefined,
  type Keywords,
  type Value,
} from "./values.ts";

/** `object.name`, or `object[name]`. Not there: {@link Undefined}. @throws TemplateError for names that start with `__` */
export function memberOf(object: Value, name: string, what: string, budget: Budget): Value {
  if (object instanceof Undefined) return object.fail();
  if (isMap(object) && object.has(name)) return object.get(name) ?? null;
  if (name.startsWith("__")) throw new TemplateError(`"${what}": names that start with __ are closed to templates`);
  if (object instanceof Thing || object instanceof Callable) {
    const member = object.member(name, budget);
    return member === undefined ? new Undefined(what) : member;
  }
  const method = methodOf(object, name, budget);
  return method === undefined ? new Undefined(what) : new Callable(name, method);
}

/** `object[index]`. */
export function itemOf(object: Value, index: Value, what: string, budget: Budget): Value {
  if (object instanceof Undefined) return object.fail();
  if (index instanceof Undefined) return index.fail();
  if (typeof index === "string") return memberOf(object, index, what, budget);
  if (typeof index === "number" && (isList(object) || typeof object === "string")) {
    const item = object.at(index);
    return item === undefined ? new Undefined(what) : item;
  }
  if (isMap(object)) return memberOf(object, textOf(index, budget), what, budget);
  throw new TemplateError(`"${what}": ${kindOf(object)} has no items by ${kindOf(index)}`);
}

type Method = (args: readonly Value[], keywords: Keywords) => Value;

function methodOf(object: Value, name: string, budget: Budget): Method | undefined {
  if (typeof object === "string") return textMethod(object, name, budget);
  if (isList(object)) {
    if (name === "index")
      return (args) => {
        const at = object.findIndex((item) => isEqual(item, args[0] ?? null, budget));
        if (at < 0) throw new TemplateError("index(): it is not in the list");
        return at;
      };
    if (name === "count") return (args) => object.filter((item) => isEqual(item, args[0] ?? null, budget)).length;
  }
  if (isMap(object)) {
    if (name === "get")
      return (args, keywords) => {
        const [key, otherwise = null] = bind("get", ["key", "default"], args, keywords);
        const found = object.get(textOf(key ?? null, budget));
        return found === undefined ? otherwise : found;
      };
    if (name === "items") return () => budget.list([...object]) as readonly Value[]; // pairs of a text and a value
    if (name === "keys") return () => budget.list([...object.keys()]);
    if (name === "values") return () => budget.list([...object.values()]);
  }
  return undefined;
}

function textMethod(text: string, name: string, budget: Budget): Method | undefined {
  const oneText =
    (use: (argument: string) => Value): Method =>
    (args, keywords) =>
      use(needText(`the argument of ${name}()`, bind(name, ["text"], args, keywords)[0]));
  const stripped =
    (left: boolean, right: boolean): Method =>
    (args, keywords) => {
      const [chars] = bind(name, ["chars"], args, keywords);
      return strip(text, chars === undefined || chars === null ? undefined : needText("chars", chars), left, right);
    };
  switch (name) {
    case "upper":
      return () => budget.text(text.toUpperCase());
    case "lower":
      return () => budget.text(text.toLowerCase());
    case "capitalize":
      return () => capitalize(text);
    case "title":
      return () => titleCase(text);
    case "strip":
      return stripped(true, true);
    case "lstrip":
      return stripped(true, false);
    case "rstrip":
      return stripped(false, true);
    case "startswith":
    case "endswith":
      return (args, keywords) => {
        const [given = null] = bind(name, ["text"], args, keywords);
        const all = (isList(given) ? given : [given]).map((item) => needText(`the argument of ${name}()`, item));
        return all.some((item) => (name === "startswith" ? text.startsWith(item) : text.endsWith(item)));
      };
    case "removeprefix":
      return oneText((prefix) => (text.startsWith(prefix) ? text.slice(prefix.length) : text));
    case "removesuffix":
      return oneText((suffix) => (suffix !== "" && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text));
    case "find":
      return oneText((part) => text.indexOf(part));
    case "count":
      return oneText((part) => (part === "" ? text.length + 1 : text.split(part).length - 1));
    case "isdigit":
      return () => /^\p{Nd}+$/u.test(text);
    case "split":
    case "rsplit":
      return (args, keywords) => {
        const [separator = null, max = -1] = bind(name, ["sep", "maxsplit"], args, keywords);
        return budget.list(split(text, separator, needInteger("maxsplit", max), name === "rsplit"));
      };
    case "splitlines":
      return () => budget.list(text.replace(/\r?\n$/, "").split(/\r?\n/));
    case "replace":
      return (args, keywords) => {
        const [old, by, count = -1] = bind(name, ["old", "new", "count"], args, keywords);
        return replaceText(text, needText("old", old), needText("new", by), needInteger("count", count), budget);
      };
    case "join":
      return (args) => joinTexts(args[0] ?? null, text, budget);
    case "zfill":
      return (args, keywords) => {
        const width = needInteger("width", bind(name, ["width"], args, keywords)[0]);
        budget.length(width);
        const sign = /^[+-]/.exec(text)?.[0] ?? "";
        return sign + text.slice(sign.length).padStart(width - sign.length, "0");
      };
    case "ljust":
    case "rjust":
      return (args, keywords) => {
        const [width, fill = " "] = bind(name, ["width", "fillchar"], args, keywords);
        const length = needInteger("width", width);
        budget.length(length);
        const by = needText("fillchar", fill);
        return name === "ljust" ? text.padEnd(length, by) : text.padStart(length, by);
      };
    case "format":
      return (args, keywords) => formatText(text, args, keywords, budget);
    default:
      return undefined;
  }
}

export const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase();

export const titleCase = (text: string): string => text.replace(/\p{L}[\p{L}\p{N}']*/gu, (word) => capitalize(word));

export function strip(text: string, chars: string | undefined, left: boolean, right: boolean): string {
  const isCut = (char: string): boolean => (chars === undefined ? /\s/.test(char) : chars.includes(char));
  let [start, end] = [0, text.length];
  while (left && start < end && isCut(text.charAt(start))) start++;
  while (right && end > start && isCut(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

function split(text: string, separator: Value, max: number, fromRight: boolean): string[] {
  const isSpace = separator === null;
  const between = isSpace ? " " : needText("sep", separator);
  if (between === "") throw new TemplateError("split(): the separator is empty");
  const parts = isSpace ? text.trim().split(/\s+/).filter(Boolean) : text.split(between);
  if (max < 0 || parts.length <= max + 1) return parts;
  return fromRight
    ? [parts.slice(0, parts.length - max).join(between), ...parts.slice(parts.length - max)]
    : [...parts.slice(0, max), parts.slice(max).join(between)];
}

export function replaceText(text: string, old: string, by: string, count: number, budget: Budget): string {
  const parts = old === "" ? ["", ...lettersOf(text), ""] : text.split(old);
  const times = count < 0 ? parts.length - 1 : Math.min(count, parts.length - 1);
  budget.length(text.length + times * (by.length - old.length));
  const head = parts.slice(0, times + 1).join(by);
  return times === parts.length - 1 ? head : `${head}${old}${parts.slice(times + 1).join(old)}`;
}

export function joinTexts(list: Value, between: string, budget: Budget): string {
  if (list instanceof Undefined) return list.fail();
  const items =
    typeof list === "string" ? lettersOf(list) : isMap(list) ? [...list.keys()] : isList(list) ? list : undefined;
  if (items === undefined) throw new TemplateError(`join needs a list, got ${kindOf(list)}`);
  let length = 0;
  const texts = items.map((item) => {
    const text = textOf(item, budget);
    budget.spend();
    budget.length((length += text.length + between.length));
    return text;
  });
  return texts.join(between);
}

/** `"{} {0} {name}".format(…)`, without looking into what is given. */
function formatText(text: string, args: readonly Value[], keywords: Keywords, budget: Budget): string {
  let next = 0;
  let length = text.length;
  const written = text.replace(/\{\{|\}\}|\{([^{}]*)\}/g, (whole, name: string | undefined) => {
    if (name === undefined) return whole.charAt(0);
    const value = name === "" ? args[next++] : /^\d+$/.test(name) ? args[Number(name)] : keywords.get(name);
    if (value === undefined) throw new TemplateError(`format(): there is nothing for "${whole}"`);
    const part = textOf(value, budget);
    budget.length((length += part.length));
    return part;
  });
  return written;
}
