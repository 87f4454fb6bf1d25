// The names that every template knows: constants, `range`, `dict`, `namespace`, and `loop` within a `for`.
import { Namespace } from "./scope.ts";
import { TemplateError } from "./template-error.ts";
import { Callable, kindOf, Names, Undefined, type Keywords, type Value } from "./values.ts";

/** `loop`, while its `i`-th item has its turn. */
export function loopOf(items: readonly Value[], i: number): Names {
  return new Names("loop", {
    index: i + 1,
    index0: i,
    revindex: items.length - i,
    revindex0: items.length - i - 1,
    first: i === 0,
    last: i === items.length - 1,
    length: items.length,
    previtem: items[i - 1] ?? new Undefined("loop.previtem"),
    nextitem: items[i + 1] ?? new Undefined("loop.nextitem"),
    cycle: new Callable("cycle", (args) => args[i % Math.max(1, args.length)] ?? null),
  });
}

export const BUILT_IN_NAMES: ReadonlyMap<string, Value> = new Map<string, Value>([
  ["none", null],
  ["None", null],
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  [
    "range",
    new Callable("range", (args, _keywords, budget) => {
      const numbers = args.map((value) => {
        if (typeof value === "number" && Number.isInteger(value)) return value;
        throw new TemplateError(`range() takes whole numbers, got ${kindOf(value)}`);
      });
      const [start, stop, step] =
        numbers.length === 1 ? [0, numbers[0] ?? 0, 1] : [numbers[0] ?? 0, numbers[1] ?? 0, numbers[2] ?? 1];
      if (step === 0) throw new TemplateError("range(): the step is not 0");
      const count = Math.max(0, Math.ceil((stop - start) / step));
      budget.items(count);
      return Array.from({ length: count }, (_, i) => start + i * step);
    }),
  ],
  ["dict", new Callable("dict", (_args, keywords) => new Map<string, Value>(keywords as Keywords))],
  ["namespace", new Callable("namespace", (_args, keywords) => new Namespace(keywords))],
]);
