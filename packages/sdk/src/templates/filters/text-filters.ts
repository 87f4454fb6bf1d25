// Filters that take a text and make a text of it.
import { needInteger, needNumber, needText } from "../arguments.ts";
import { shellQuote } from "../code-text.ts";
import { capitalize, replaceText, strip, titleCase } from "../members.ts";
import { TemplateError } from "../template-error.ts";
import { isList, isMap, textOf, truthOf } from "../values.ts";
import { named, textIn, type Filter, type FilterCall } from "./filter-call.ts";

const onText =
  (use: (text: string, call: FilterCall) => string): Filter =>
  (call) =>
    call.budget.text(use(textIn(call), call));

/** As Jinja writes them. */
const HTML: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&#34;"],
  ["'", "&#39;"],
]);

export const TEXT_FILTERS: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ["quote", (call) => call.budget.text(shellQuote(textIn(call)))],
  ["string", onText((text) => text)],
  ["upper", onText((text) => text.toUpperCase())],
  ["lower", onText((text) => text.toLowerCase())],
  ["capitalize", onText(capitalize)],
  ["title", onText(titleCase)],
  [
    "trim",
    onText((text, call) => {
      const [chars] = named("trim", ["chars"], call);
      return strip(text, chars === undefined ? undefined : needText("chars", chars), true, true);
    }),
  ],
  [
    "replace",
    (call) => {
      const [old, by, count = -1] = named("replace", ["old", "new", "count"], call);
      const times = count === null ? -1 : needInteger("count", count);
      return replaceText(textIn(call), needText("old", old), needText("new", by), times, call.budget);
    },
  ],
  [
    "indent",
    (call) => {
      const [width = 4, first = false, blank = false] = named("indent", ["width", "first", "blank"], call);
      const text = textIn(call);
      const length = typeof width === "string" ? width.length : needInteger("width", width);
      const lines = text.split("\n");
      call.budget.length(text.length + lines.length * Math.max(0, length));
      const by = typeof width === "string" ? width : " ".repeat(Math.max(0, length));
      return lines
        .map((line, i) => ((i === 0 && !truthOf(first)) || (line === "" && !truthOf(blank)) ? line : by + line))
        .join("\n");
    },
  ],
  [
    "truncate",
    (call) => {
      const names = ["length", "killwords", "end", "leeway"];
      const [length = 255, killwords = false, end = "...", leeway = 5] = named("truncate", names, call);
      const [text, max, mark] = [textIn(call), needInteger("length", length), needText("end", end)];
      // As in Jinja: what is a little too long is not cut.
      if (text.length <= max + (leeway === null ? 5 : needInteger("leeway", leeway))) return text;
      const cut = text.slice(0, Math.max(0, max - mark.length));
      const space = truthOf(killwords) ? -1 : cut.lastIndexOf(" ");
      return (space < 0 ? cut : cut.slice(0, space)) + mark;
    },
  ],
  ["escape", onText((text) => text.replace(/[&<>"']/g, (char) => HTML.get(char) ?? char))],
  [
    "urlencode",
    (call) => {
      const { value, budget } = call;
      const given = isMap(value) ? [...value] : isList(value) ? value : undefined;
      if (given === undefined) return budget.text(encodeURIComponent(textIn(call)).replaceAll("%2F", "/"));
      const pairs = given.map((pair) => {
        if (!isList(pair) || pair.length !== 2)
          throw new TemplateError("urlencode needs a text, a dict or a list of pairs");
        return pair.map((part) => encodeURIComponent(textOf(part, budget)).replaceAll("%20", "+")).join("=");
      });
      return budget.text(pairs.join("&"));
    },
  ],
  [
    "format",
    (call) => {
      let next = 0;
      let length = 0;
      const written = textIn(call).replace(
        /%%|%(?:\((\w+)\))?(-?)(0?)(\d*)(?:\.(\d+))?([sdifr])/g,
        (
          whole,
          name: string | undefined,
          left: string,
          zero: string,
          width: string,
          precision: string | undefined,
          kind: string,
        ) => {
          if (whole === "%%") return "%";
          const value = name === undefined ? call.args[next++] : call.keywords.get(name);
          if (value === undefined) throw new TemplateError(`format: there is nothing for "${whole}"`);
          const digits = precision === undefined ? 6 : Math.min(20, Number(precision));
          const text =
            kind === "f"
              ? needNumber(whole, value).toFixed(digits)
              : kind === "d" || kind === "i"
                ? String(Math.trunc(needNumber(whole, value)))
                : textOf(value, call.budget);
          call.budget.length(Number(width));
          const padded =
            left === "-" ? text.padEnd(Number(width)) : text.padStart(Number(width), zero === "0" ? "0" : " ");
          call.budget.length((length += padded.length));
          return padded;
        },
      );
      return call.budget.text(written);
    },
  ],
]);
