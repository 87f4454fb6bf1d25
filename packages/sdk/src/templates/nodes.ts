// The nodes that the parser of @huggingface/jinja makes, by their `type`. The package names their classes nowhere.

export type Node =
  | { readonly type: "Program"; readonly body: readonly Node[] }
  | { readonly type: "If"; readonly test: Node; readonly body: readonly Node[]; readonly alternate: readonly Node[] }
  | ForNode
  | { readonly type: "Break" | "Continue" | "Comment" }
  | {
      readonly type: "Set";
      readonly assignee: Node;
      readonly value: Node | null;
      readonly body: readonly Node[];
    }
  | MacroNode
  | {
      readonly type: "CallStatement";
      readonly call: CallNode;
      readonly callerArgs: readonly ParameterNode[] | null;
      readonly body: readonly Node[];
    }
  | { readonly type: "FilterStatement"; readonly filter: IdentifierNode | CallNode; readonly body: readonly Node[] }
  | MemberNode
  | CallNode
  | IdentifierNode
  | { readonly type: "IntegerLiteral" | "FloatLiteral"; readonly value: number }
  | { readonly type: "StringLiteral"; readonly value: string }
  | { readonly type: "ArrayLiteral" | "TupleLiteral"; readonly value: readonly Node[] }
  | { readonly type: "ObjectLiteral"; readonly value: ReadonlyMap<Node, Node> }
  | {
      readonly type: "BinaryExpression";
      readonly operator: { readonly value: string };
      readonly left: Node;
      readonly right: Node;
    }
  | FilterNode
  | { readonly type: "SelectExpression"; readonly lhs: Node; readonly test: Node }
  | {
      readonly type: "TestExpression";
      readonly operand: Node;
      readonly negate: boolean;
      readonly test: IdentifierNode;
    }
  | { readonly type: "UnaryExpression"; readonly operator: { readonly value: string }; readonly argument: Node }
  | SliceNode
  | KeywordNode
  | { readonly type: "SpreadExpression" | "KeywordSpreadExpression"; readonly argument: Node }
  | { readonly type: "Ternary"; readonly condition: Node; readonly trueExpr: Node; readonly falseExpr: Node };

export interface IdentifierNode {
  readonly type: "Identifier";
  readonly value: string;
}

export interface CallNode {
  readonly type: "CallExpression";
  readonly callee: Node;
  readonly args: readonly Node[];
}

export interface MemberNode {
  readonly type: "MemberExpression";
  readonly object: Node;
  readonly property: Node;
  readonly computed: boolean;
}

export interface FilterNode {
  readonly type: "FilterExpression";
  readonly operand: Node;
  readonly filter: IdentifierNode | CallNode;
}

export interface SliceNode {
  readonly type: "SliceExpression";
  readonly start?: Node;
  readonly stop?: Node;
  readonly step?: Node;
}

export interface KeywordNode {
  readonly type: "KeywordArgumentExpression";
  readonly key: IdentifierNode;
  readonly value: Node;
}

export type ParameterNode = IdentifierNode | KeywordNode;

export interface ForNode {
  readonly type: "For";
  readonly loopvar: Node;
  readonly iterable: Node;
  readonly body: readonly Node[];
  readonly defaultBlock: readonly Node[];
}

export interface MacroNode {
  readonly type: "Macro";
  readonly name: IdentifierNode;
  readonly args: readonly ParameterNode[];
  readonly body: readonly Node[];
}
