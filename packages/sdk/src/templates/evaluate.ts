// Runs the nodes of a template. Every step is paid for from a budget, every name that is not there is an error, and the
// only things that it can touch are those of values.ts. It waits for nothing: what has to be fetched first is thrown as
// it is met (see airflow-names.ts), fetched, and the template is run again.
import type { Budget } from "./budget.ts";
import { DateValue, DurationValue } from "./date-value.ts";
import { filterOf, listIn, testValue } from "./filters.ts";
import { itemOf, memberOf } from "./members.ts";
import type {
  CallNode,
  ForNode,
  IdentifierNode,
  MacroNode,
  MemberNode,
  Node,
  ParameterNode,
  SliceNode,
} from "./nodes.ts";
import { isRawName, type ParsedTemplate } from "./parse-template.ts";
import { checkCodeText, isOwnText, type CodeKind } from "./code-text.ts";
import { TemplateError } from "./template-error.ts";
import {
  Callable,
  compareValues,
  isEqual,
  isList,
  isMap,
  kindOf,
  lettersOf,
  Names,
  textOf,
  Thing,
  truthOf,
  Undefined,
  type Keywords,
  type Value,
} from "./values.ts";

/** How deep macros may call each other. */
const MAX_DEPTH = 50;

export interface EvaluateOptions {
  readonly budget: Budget;
  readonly names: (name: string) => Value | undefined;
  /** Why a name that exists elsewhere is not there. */
  readonly whyMissing?: (name: string) => string;
  /** What the text that it makes is code for. */
  readonly code?: CodeKind | undefined;
}

class Loop extends Error {
  readonly kind: "Break" | "Continue";

  constructor(kind: Loop["kind"]) {
    super(kind === "Break" ? "break outside of a loop" : "continue outside of a loop");
    this.kind = kind;
  }
}

class Scope {
  readonly #own = new Map<string, Value>();
  readonly #outer: Scope | undefined;

  constructor(outer?: Scope) {
    this.#outer = outer;
  }

  get(name: string): Value | undefined {
    const own = this.#own.get(name);
    return own === undefined ? this.#outer?.get(name) : own; // null is a value: None
  }

  set(name: string, value: Value): void {
    this.#own.set(name, value);
  }
}

/** A namespace: the one thing that a loop can write to. */
class Namespace extends Thing {
  readonly members: Map<string, Value>;

  constructor(members: ReadonlyMap<string, Value>) {
    super();
    this.members = new Map(members);
  }

  override member(name: string): Value | undefined {
    return this.members.get(name);
  }

  override text(): string {
    return "<namespace>";
  }
}

/** The text that a template makes. */
export function evaluateText(template: ParsedTemplate, options: EvaluateOptions): string {
  const evaluator = new Evaluator(template, options);
  return options.budget.text(evaluator.block(template.body, new Scope()) + template.ending);
}

/** The value of a template that is one expression; `undefined` for any other. */
export function evaluateValue(
  template: ParsedTemplate,
  options: EvaluateOptions,
): { readonly value: Value } | undefined {
  const [only, ...more] = template.body;
  if (only === undefined || more.length > 0 || template.ending !== "" || !isExpression(only)) return undefined;
  return { value: new Evaluator(template, options).value(only, new Scope()) };
}

const STATEMENTS = new Set([
  "If",
  "For",
  "Break",
  "Continue",
  "Comment",
  "Set",
  "Macro",
  "CallStatement",
  "FilterStatement",
]);
const isExpression = ({ type }: Node): boolean => !STATEMENTS.has(type);

class Evaluator {
  readonly #raw: ReadonlyMap<string, string>;
  readonly #budget: Budget;
  readonly #options: EvaluateOptions;
  #depth = 0;

  constructor(template: ParsedTemplate, options: EvaluateOptions) {
    this.#raw = template.raw;
    this.#budget = options.budget;
    this.#options = options;
  }

  block(nodes: readonly Node[], scope: Scope): string {
    let text = "";
    for (const node of nodes) text = this.#budget.text(text + this.#write(node, scope));
    return text;
  }

  #write(node: Node, scope: Scope): string {
    this.#budget.spend();
    switch (node.type) {
      case "Comment":
        return "";
      case "Break":
      case "Continue":
        throw new Loop(node.type);
      case "If":
        return this.block(truthOf(this.value(node.test, scope)) ? node.body : node.alternate, scope);
      case "For":
        return this.#loop(node, scope);
      case "Set":
        this.#assign(
          node.assignee,
          node.value === null ? this.block(node.body, new Scope(scope)) : this.value(node.value, scope),
          scope,
        );
        return "";
      case "Macro":
        scope.set(node.name.value, this.#macro(node.name.value, node, scope));
        return "";
      case "CallStatement": {
        const inner = new Scope(scope);
        inner.set("caller", this.#macro("caller", { args: node.callerArgs ?? [], body: node.body }, scope));
        const callee = this.value(node.call.callee, scope);
        return textOf(this.#call(callee, node.call, scope, inner), this.#budget);
      }
      case "FilterStatement":
        return textOf(this.#filter(this.block(node.body, new Scope(scope)), node.filter, scope), this.#budget);
      case "StringLiteral":
        return node.value;
      default: {
        const value = this.value(node, scope);
        const text = textOf(value, this.#budget);
        const { code } = this.#options;
        if (code === undefined || typeof value === "number" || isOwnText(node, code)) return text;
        return checkCodeText(text, code);
      }
    }
  }

  #loop(node: ForNode, scope: Scope): string {
    const isPicked = node.iterable.type === "SelectExpression";
    const over = node.iterable.type === "SelectExpression" ? node.iterable.lhs : node.iterable;
    const test = node.iterable.type === "SelectExpression" ? node.iterable.test : undefined;
    const all = listIn({ value: this.value(over, scope), args: [], keywords: new Map(), budget: this.#budget });
    const items =
      !isPicked || test === undefined
        ? all
        : all.filter((item) => {
            const inner = new Scope(scope);
            this.#assign(node.loopvar, item, inner);
            return truthOf(this.value(test, inner));
          });
    if (items.length === 0) return this.block(node.defaultBlock, scope);
    let text = "";
    for (const [i, item] of items.entries()) {
      this.#budget.spend();
      const inner = new Scope(scope);
      this.#assign(node.loopvar, item, inner);
      inner.set("loop", loopOf(items, i));
      try {
        text = this.#budget.text(text + this.block(node.body, inner));
      } catch (thrown) {
        if (!(thrown instanceof Loop)) throw thrown;
        if (thrown.kind === "Break") break;
      }
    }
    return text;
  }

  #assign(target: Node, value: Value, scope: Scope): void {
    if (target.type === "Identifier") {
      scope.set(target.value, value);
    } else if (target.type === "TupleLiteral") {
      if (!isList(value) || value.length !== target.value.length) {
        throw new TemplateError(`${kindOf(value)} cannot be taken apart into ${target.value.length} names`);
      }
      for (const [i, part] of target.value.entries()) this.#assign(part, value[i] ?? null, scope);
    } else if (target.type === "MemberExpression" && target.property.type === "Identifier" && !target.computed) {
      const object = this.value(target.object, scope);
      if (!(object instanceof Namespace)) throw new TemplateError("only members of a namespace() can be set");
      object.members.set(target.property.value, value);
    } else {
      throw new TemplateError("this cannot be set");
    }
  }

  #macro(title: string, { args, body }: Pick<MacroNode, "args" | "body">, outer: Scope): Callable {
    return new Callable(title, (given, keywords) =>
      this.#within(() => {
        const scope = new Scope(outer);
        const left = new Map(keywords);
        for (const [i, parameter] of args.entries()) {
          const { name, otherwise } = parameterOf(parameter);
          const value = i < given.length ? given[i] : left.get(name);
          left.delete(name);
          const missing = (): Value => (otherwise === undefined ? new Undefined(name) : this.value(otherwise, scope));
          scope.set(name, value === undefined ? missing() : value);
        }
        const caller = left.get("caller");
        if (caller !== undefined) scope.set("caller", caller);
        left.delete("caller");
        if (given.length > args.length || left.size > 0)
          throw new TemplateError(`${title}() is given more than it takes`);
        return this.block(body, scope);
      }),
    );
  }

  #within<T>(use: () => T): T {
    if (++this.#depth > MAX_DEPTH)
      throw new TemplateError(`macros call each other more than ${MAX_DEPTH} deep: does it loop?`);
    try {
      return use();
    } finally {
      this.#depth--;
    }
  }

  value(node: Node, scope: Scope): Value {
    this.#budget.spend();
    switch (node.type) {
      case "IntegerLiteral":
      case "FloatLiteral":
      case "StringLiteral":
        return node.value;
      case "ArrayLiteral":
      case "TupleLiteral":
        return node.value.map((item) => this.value(item, scope));
      case "ObjectLiteral":
        return new Map(
          [...node.value].map(([key, item]) => [textOf(this.value(key, scope), this.#budget), this.value(item, scope)]),
        );
      case "Identifier":
        return this.#name(node.value, scope);
      case "MemberExpression":
        return this.#member(node, scope);
      case "CallExpression":
        return this.#call(this.value(node.callee, scope), node, scope);
      case "FilterExpression":
        return this.#filter(this.value(node.operand, scope), node.filter, scope);
      case "TestExpression": {
        const holds = testValue(node.test.value, this.value(node.operand, scope), undefined, this.#budget);
        return node.negate ? !holds : holds;
      }
      case "UnaryExpression": {
        const value = this.value(node.argument, scope);
        if (node.operator.value === "not") return !truthOf(value);
        if (typeof value !== "number")
          throw new TemplateError(`${node.operator.value} needs a number, got ${kindOf(value)}`);
        return node.operator.value === "-" ? -value : value;
      }
      case "Ternary":
        return this.value(truthOf(this.value(node.condition, scope)) ? node.trueExpr : node.falseExpr, scope);
      case "SelectExpression":
        return truthOf(this.value(node.test, scope)) ? this.value(node.lhs, scope) : "";
      case "BinaryExpression":
        return this.#binary(node.operator.value, node.left, node.right, scope);
      default:
        throw new TemplateError(`${node.type} has no value`);
    }
  }

  #name(name: string, scope: Scope): Value {
    if (isRawName(name)) return this.#raw.get(name) ?? new Undefined(name);
    for (const found of [scope.get(name), this.#options.names(name), BUILT_IN.get(name)]) {
      if (found !== undefined) return found;
    }
    return new Undefined(name, this.#options.whyMissing?.(name) ?? "");
  }

  #member(node: MemberNode, scope: Scope): Value {
    const object = this.value(node.object, scope);
    const what = pathOf(node);
    if (!node.computed) {
      const name = node.property.type === "Identifier" ? node.property.value : undefined;
      if (name !== undefined) return memberOf(object, name, what, this.#budget);
    } else if (node.property.type === "SliceExpression") {
      return this.#slice(object, node.property, scope);
    }
    return itemOf(object, this.value(node.property, scope), what, this.#budget);
  }

  #slice(object: Value, node: SliceNode, scope: Scope): Value {
    if (object instanceof Undefined) return object.fail();
    const bound = (part: Node | undefined): number | undefined => {
      const value = part === undefined ? null : this.value(part, scope);
      if (value === null) return undefined;
      if (typeof value === "number" && Number.isInteger(value)) return value;
      throw new TemplateError(`a slice needs whole numbers, got ${kindOf(value)}`);
    };
    const items = typeof object === "string" ? lettersOf(object) : isList(object) ? object : undefined;
    if (items === undefined) throw new TemplateError(`${kindOf(object)} has no slices`);
    this.#budget.items(Math.min(items.length, 8));
    const taken = sliceOf<Value>(items, bound(node.start), bound(node.stop), bound(node.step) ?? 1);
    return typeof object === "string" ? taken.join("") : this.#budget.list(taken);
  }

  #arguments(nodes: readonly Node[], scope: Scope): [Value[], Map<string, Value>] {
    const args: Value[] = [];
    const keywords = new Map<string, Value>();
    for (const node of nodes) {
      if (node.type === "KeywordArgumentExpression") keywords.set(node.key.value, this.value(node.value, scope));
      else if (node.type === "SpreadExpression") {
        const value = this.value(node.argument, scope);
        if (!isList(value)) throw new TemplateError(`*${kindOf(value)} is no list`);
        args.push(...value.slice(0, 1_000));
      } else if (node.type === "KeywordSpreadExpression") {
        const value = this.value(node.argument, scope);
        if (!isMap(value)) throw new TemplateError(`**${kindOf(value)} is no dict`);
        for (const [key, item] of value) keywords.set(key, item);
      } else args.push(this.value(node, scope));
    }
    return [args, keywords];
  }

  #call(callee: Value, node: CallNode, scope: Scope, callerScope?: Scope): Value {
    if (callee instanceof Undefined) return callee.fail();
    if (!(callee instanceof Callable)) throw new TemplateError(`${kindOf(callee)} cannot be called`);
    const [args, keywords] = this.#arguments(node.args, scope);
    const caller = callerScope?.get("caller");
    if (caller !== undefined) keywords.set("caller", caller);
    const value = callee.call(args, keywords, this.#budget);
    return typeof value === "string" ? this.#budget.text(value) : value;
  }

  #filter(value: Value, filter: IdentifierNode | CallNode, scope: Scope): Value {
    if (filter.type === "Identifier") {
      return filterOf(filter.value)({ value, args: [], keywords: new Map(), budget: this.#budget });
    }
    if (filter.callee.type !== "Identifier") throw new TemplateError("a filter has a name");
    const [args, keywords] = this.#arguments(filter.args, scope);
    return filterOf(filter.callee.value)({ value, args, keywords, budget: this.#budget });
  }

  #binary(operator: string, leftNode: Node, rightNode: Node, scope: Scope): Value {
    const left = this.value(leftNode, scope);
    if (operator === "and") return truthOf(left) ? this.value(rightNode, scope) : left;
    if (operator === "or") return truthOf(left) ? left : this.value(rightNode, scope);
    const right = this.value(rightNode, scope);
    const budget = this.#budget;
    switch (operator) {
      case "==":
        return isEqual(left, right, budget);
      case "!=":
        return !isEqual(left, right, budget);
      case "<":
        return compareValues(left, right, budget) < 0;
      case "<=":
        return compareValues(left, right, budget) <= 0;
      case ">":
        return compareValues(left, right, budget) > 0;
      case ">=":
        return compareValues(left, right, budget) >= 0;
      case "in":
        return contains(right, left, budget);
      case "not in":
        return !contains(right, left, budget);
      case "~":
        return budget.text(textOf(left, budget) + textOf(right, budget));
      default:
        return calculate(operator, left, right, budget);
    }
  }
}

function parameterOf(node: ParameterNode): { readonly name: string; readonly otherwise?: Node } {
  return node.type === "Identifier" ? { name: node.value } : { name: node.key.value, otherwise: node.value };
}

function contains(whole: Value, part: Value, budget: Budget): boolean {
  if (whole instanceof Undefined) return whole.fail();
  if (part instanceof Undefined) return part.fail();
  if (typeof whole === "string" && typeof part === "string") return whole.includes(part);
  if (isMap(whole)) return typeof part === "string" && whole.has(part);
  if (isList(whole)) return whole.some((item) => isEqual(item, part, budget));
  throw new TemplateError(`nothing can be in ${kindOf(whole)}`);
}

function calculate(operator: string, left: Value, right: Value, budget: Budget): Value {
  if (left instanceof Undefined) return left.fail();
  if (right instanceof Undefined) return right.fail();
  const [a, b] = [left, right].map((value) => (typeof value === "boolean" ? Number(value) : value)) as [Value, Value]; // two in, two out
  if (typeof a === "number" && typeof b === "number") return arithmetic(operator, a, b);
  if (operator === "+" && typeof a === "string" && typeof b === "string") return budget.text(a + b);
  if (operator === "+" && isList(a) && isList(b)) {
    budget.items(a.length + b.length);
    return [...a, ...b];
  }
  if (operator === "*" && typeof a === "string" && typeof b === "number") {
    budget.length(a.length * Math.max(0, b));
    return a.repeat(Math.max(0, Math.trunc(b)));
  }
  const sign = operator === "+" ? 1 : operator === "-" ? -1 : undefined;
  if (sign !== undefined && b instanceof DurationValue) {
    if (a instanceof DateValue) return a.plus(sign * b.ms);
    if (a instanceof DurationValue) return new DurationValue(a.ms + sign * b.ms);
  }
  if (operator === "+" && a instanceof DurationValue && b instanceof DateValue) return b.plus(a.ms);
  if (operator === "-" && a instanceof DateValue && b instanceof DateValue)
    return new DurationValue(a.at.getTime() - b.at.getTime());
  if (operator === "*" && a instanceof DurationValue && typeof b === "number") return new DurationValue(a.ms * b);
  throw new TemplateError(`${kindOf(a)} ${operator} ${kindOf(b)} has no meaning`);
}

function arithmetic(operator: string, a: number, b: number): number {
  if (b === 0 && (operator === "/" || operator === "//" || operator === "%"))
    throw new TemplateError("a division by zero");
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "//":
      return Math.floor(a / b);
    case "%":
      return a - b * Math.floor(a / b);
    case "**":
      return a ** b;
    default:
      throw new TemplateError(`there is no operator ${operator}`);
  }
}

function sliceOf<T>(items: readonly T[], start: number | undefined, stop: number | undefined, step: number): T[] {
  if (step === 0) throw new TemplateError("the step of a slice is not 0");
  const { length } = items;
  const clamp = (at: number, low: number, high: number): number =>
    Math.min(high, Math.max(low, at < 0 ? at + length : at));
  const [from, to] =
    step > 0
      ? [clamp(start ?? 0, 0, length), stop === undefined ? length : clamp(stop, 0, length)]
      : [clamp(start ?? length - 1, -1, length - 1), stop === undefined ? -1 : clamp(stop, -1, length - 1)];
  const taken: T[] = [];
  for (let i = from; step > 0 ? i < to : i > to; i += step) {
    const item = items[i];
    if (item !== undefined) taken.push(item);
  }
  return taken;
}

function loopOf(items: readonly Value[], i: number): Names {
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

/** `dag_run.conf.x`, as an error names it. */
function pathOf(node: Node): string {
  if (node.type === "Identifier") return node.value;
  if (node.type === "CallExpression") return `${pathOf(node.callee)}()`;
  if (node.type !== "MemberExpression") return "…";
  const { property } = node;
  if (!node.computed && property.type === "Identifier") return `${pathOf(node.object)}.${property.value}`;
  const index =
    property.type === "StringLiteral"
      ? JSON.stringify(property.value)
      : property.type === "IntegerLiteral"
        ? property.value
        : "…";
  return `${pathOf(node.object)}[${index}]`;
}

const BUILT_IN: ReadonlyMap<string, Value> = new Map<string, Value>([
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
