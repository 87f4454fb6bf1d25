// The values of expressions: names, members, calls, filters, operators. Every step is paid for from a budget, every name
// that is not there is an error, and the only things that can be touched are those of values.ts.
import type { Budget } from "./budget.ts";
import { BUILT_IN_NAMES } from "./built-in-names.ts";
import type { CodeKind } from "./code-text.ts";
import { filterOf } from "./filters/filters.ts";
import { testValue } from "./filters/jinja-tests.ts";
import { itemOf, memberOf } from "./members.ts";
import type { CallNode, IdentifierNode, MemberNode, Node, SliceNode } from "./nodes.ts";
import { applyOperator, sliceOf } from "./operators.ts";
import { isRawName, type ParsedTemplate } from "./parse-template.ts";
import type { Scope } from "./scope.ts";
import { TemplateError } from "./template-error.ts";
import { Callable, isList, isMap, kindOf, lettersOf, textOf, truthOf, Undefined, type Value } from "./values.ts";

export interface EvaluateOptions {
  readonly budget: Budget;
  readonly names: (name: string) => Value | undefined;
  /** Why a name that exists elsewhere is not there. */
  readonly whyMissing?: (name: string) => string;
  /** What the text that it makes is code for. */
  readonly code?: CodeKind | undefined;
}

const ORDERS = new Set(["<", "<=", ">", ">="]);

export class Expressions {
  readonly #raw: ReadonlyMap<string, string>;
  readonly #budget: Budget;
  readonly #options: EvaluateOptions;

  constructor(template: ParsedTemplate, options: EvaluateOptions) {
    this.#raw = template.raw;
    this.#budget = options.budget;
    this.#options = options;
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
        return this.call(this.value(node.callee, scope), node, scope);
      case "FilterExpression":
        return this.filter(this.value(node.operand, scope), node.filter, scope);
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
    for (const found of [scope.get(name), this.#options.names(name), BUILT_IN_NAMES.get(name)]) {
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

  call(callee: Value, node: CallNode, scope: Scope, callerScope?: Scope): Value {
    if (callee instanceof Undefined) return callee.fail();
    if (!(callee instanceof Callable)) throw new TemplateError(`${kindOf(callee)} cannot be called`);
    const [args, keywords] = this.#arguments(node.args, scope);
    const caller = callerScope?.get("caller");
    if (caller !== undefined) keywords.set("caller", caller);
    const value = callee.call(args, keywords, this.#budget);
    return typeof value === "string" ? this.#budget.text(value) : value;
  }

  filter(value: Value, filter: IdentifierNode | CallNode, scope: Scope): Value {
    if (filter.type === "Identifier") {
      return filterOf(filter.value)({ value, args: [], keywords: new Map(), budget: this.#budget });
    }
    if (filter.callee.type !== "Identifier") throw new TemplateError("a filter has a name");
    const [args, keywords] = this.#arguments(filter.args, scope);
    return filterOf(filter.callee.value)({ value, args, keywords, budget: this.#budget });
  }

  #binary(operator: string, leftNode: Node, rightNode: Node, scope: Scope): Value {
    if (ORDERS.has(operator) && leftNode.type === "BinaryExpression" && ORDERS.has(leftNode.operator.value))
      throw new TemplateError("comparisons cannot be chained, as in a < b < c: write a < b and b < c");
    const left = this.value(leftNode, scope);
    if (operator === "and") return truthOf(left) ? this.value(rightNode, scope) : left;
    if (operator === "or") return truthOf(left) ? left : this.value(rightNode, scope);
    const right = this.value(rightNode, scope);
    return applyOperator(operator, left, right, this.#budget);
  }
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
