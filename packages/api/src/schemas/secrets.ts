import { Type } from "typebox";
import { Nullable } from "./common.ts";

const NullableText = (maxLength: number) => Type.Optional(Nullable(Type.String({ maxLength })));
const LONG = 1_000_000;

export const Variable = Type.Object({
  key: Type.String(),
  value: Nullable(Type.String()),
  description: Nullable(Type.String()),
  is_encrypted: Type.Boolean(),
  team_name: Type.Null(),
});
export const VariableCollection = Type.Object({ variables: Type.Array(Variable), total_entries: Type.Integer() });

export const VariableKey = Type.String({ minLength: 1, maxLength: 250 });
export const VariableBody = Type.Object(
  {
    key: VariableKey,
    value: Type.Unknown(),
    description: NullableText(LONG),
    team_name: Type.Optional(Type.Null()),
  },
  { additionalProperties: false },
);

export const Connection = Type.Object({
  connection_id: Type.String(),
  conn_type: Type.String(),
  description: Nullable(Type.String()),
  host: Nullable(Type.String()),
  login: Nullable(Type.String()),
  schema: Nullable(Type.String()),
  port: Nullable(Type.Integer()),
  password: Nullable(Type.String()),
  extra: Nullable(Type.String()),
  team_name: Type.Null(),
});
export const ConnectionCollection = Type.Object({
  connections: Type.Array(Connection),
  total_entries: Type.Integer(),
});

const parts = {
  description: NullableText(LONG),
  host: NullableText(500),
  login: NullableText(LONG),
  schema: NullableText(500),
  port: Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: 65_535 }))),
  password: NullableText(LONG),
  extra: NullableText(LONG),
  team_name: Type.Optional(Type.Null()),
};
const Id = Type.String({ minLength: 1, maxLength: 250 });
const ConnType = Type.String({ minLength: 1, maxLength: 500 });

export const ConnectionBody = Type.Object(
  { connection_id: Id, conn_type: ConnType, ...parts },
  { additionalProperties: false },
);
export const ConnectionPatch = Type.Object(
  { connection_id: Type.Optional(Id), conn_type: Type.Optional(ConnType), ...parts },
  { additionalProperties: false },
);
export const ConnectionTestResult = Type.Object({ status: Type.Boolean(), message: Type.String() });
