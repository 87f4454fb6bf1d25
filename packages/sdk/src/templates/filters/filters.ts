// The filters of Jinja that templates of data pipelines use, Airflow's for dates, and `quote` for the shell.
import { needText } from "../arguments.ts";
import { TemplateError } from "../template-error.ts";
import { Undefined } from "../values.ts";
import { keyOf, listIn, type Filter } from "./filter-call.ts";
import { LIST_FILTERS } from "./list-filters.ts";
import { TEXT_FILTERS } from "./text-filters.ts";
import { VALUE_FILTERS } from "./value-filters.ts";

const FILTERS: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ...VALUE_FILTERS,
  ...TEXT_FILTERS,
  ...LIST_FILTERS,
  [
    "map",
    (call) => {
      const { args, keywords, budget } = call;
      const attribute = keywords.get("attribute");
      if (attribute !== undefined) {
        const otherwise = keywords.get("default");
        return listIn(call).map((item) => {
          const found = keyOf(attribute, budget)(item);
          return found instanceof Undefined ? (otherwise ?? found.fail()) : found;
        });
      }
      const [name, ...rest] = args;
      const filter = filterOf(needText("the filter of map", name));
      return listIn(call).map((value) => filter({ value, args: rest, keywords, budget }));
    },
  ],
]);

const ALIASES: Readonly<Record<string, string>> = { d: "default", e: "escape" };

/** @throws TemplateError when there is no such filter */
export function filterOf(name: string): Filter {
  const filter = FILTERS.get(Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? name) : name);
  if (filter === undefined) throw new TemplateError(`there is no filter "${name}"`);
  return filter;
}
