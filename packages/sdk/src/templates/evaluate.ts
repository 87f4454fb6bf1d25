// Runs a template, statement by statement. It waits for nothing: what has to be fetched first is thrown as it is met (see
// airflow-names.ts), fetched, and the template is run again.
import type { Budget } from "./budget.ts";
import { loopOf } from "./built-in-names.ts";
import { checkCodeText, isOwn, isOwnText } from "./code-text.ts";
import { Expressions, type EvaluateOptions } from "./expressions.ts";
import { listIn } from "./filters/filter-call.ts";
import type { ForNode, MacroNode, Node, ParameterNode } from "./nodes.ts";
import type { ParsedTemplate } from "./parse-template.ts";
import { Namespace, Scope } from "./scope.ts";
import { TemplateError } from "./template-error.ts";
import { Callable, isList, kindOf, textOf, truthOf, Undefined, type Value } from "./values.ts";

/** How deep macros may call each other. */
const MAX_DEPTH = 50;

class Loop extends Error {
  readonly kind: "Break" | "Continue";

  constructor(kind: Loop["kind"]) {
    super(kind === "Break" ? "break outside of a loop" : "continue outside of a loop");
    this.kind = kind;
  }
}

/** The text that a template makes. */
export function evaluateText(template: ParsedTemplate, options: EvaluateOptions): string {
  const statements = new Statements(template, options);
  return options.budget.text(statements.block(template.body, new Scope()) + template.ending);
}

/** The value of a template that is one expression; `undefined` for any other. */
export function evaluateValue(
  template: ParsedTemplate,
  options: EvaluateOptions,
): { readonly value: Value } | undefined {
  const [only, ...more] = template.body;
  if (only === undefined || more.length > 0 || template.ending !== "" || !isExpression(only)) return undefined;
  return { value: new Expressions(template, options).value(only, new Scope()) };
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

class Statements {
  readonly #expressions: Expressions;
  readonly #budget: Budget;
  readonly #options: EvaluateOptions;
  #depth = 0;

  constructor(template: ParsedTemplate, options: EvaluateOptions) {
    this.#expressions = new Expressions(template, options);
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
        return this.block(truthOf(this.#expressions.value(node.test, scope)) ? node.body : node.alternate, scope);
      case "For":
        return this.#loop(node, scope);
      case "Set":
        this.#assign(
          node.assignee,
          node.value === null ? this.block(node.body, new Scope(scope)) : this.#expressions.value(node.value, scope),
          scope,
        );
        return "";
      case "Macro":
        scope.set(node.name.value, this.#macro(node.name.value, node, scope));
        return "";
      case "CallStatement": {
        const inner = new Scope(scope);
        inner.set("caller", this.#macro("caller", { args: node.callerArgs ?? [], body: node.body }, scope));
        const callee = this.#expressions.value(node.call.callee, scope);
        return textOf(this.#expressions.call(callee, node.call, scope, inner), this.#budget);
      }
      case "FilterStatement": {
        const value = this.#expressions.filter(this.block(node.body, new Scope(scope)), node.filter, scope);
        const text = textOf(value, this.#budget);
        const { code } = this.#options;
        const args = node.filter.type === "CallExpression" ? node.filter.args : [];
        return code === undefined || isOwn(args, scope) ? text : checkCodeText(text, code);
      }
      case "StringLiteral":
        return node.value;
      default: {
        const value = this.#expressions.value(node, scope);
        const text = textOf(value, this.#budget);
        const { code } = this.#options;
        if (code === undefined || typeof value === "number" || isOwnText(node, code, scope)) return text;
        return checkCodeText(text, code);
      }
    }
  }

  #loop(node: ForNode, scope: Scope): string {
    const isPicked = node.iterable.type === "SelectExpression";
    const over = node.iterable.type === "SelectExpression" ? node.iterable.lhs : node.iterable;
    const test = node.iterable.type === "SelectExpression" ? node.iterable.test : undefined;
    const all = listIn({
      value: this.#expressions.value(over, scope),
      args: [],
      keywords: new Map(),
      budget: this.#budget,
    });
    const items =
      !isPicked || test === undefined
        ? all
        : all.filter((item) => {
            const inner = new Scope(scope);
            this.#assign(node.loopvar, item, inner);
            return truthOf(this.#expressions.value(test, inner));
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
      const object = this.#expressions.value(target.object, scope);
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
          const missing = (): Value =>
            otherwise === undefined ? new Undefined(name) : this.#expressions.value(otherwise, scope);
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
}

function parameterOf(node: ParameterNode): { readonly name: string; readonly otherwise?: Node } {
  return node.type === "Identifier" ? { name: node.value } : { name: node.key.value, otherwise: node.value };
}
