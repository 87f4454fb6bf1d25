// Shapes and parameters that several routes share. Names and fields are Airflow's.
import { Type, type TSchema } from "typebox";

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const Instant = Type.String({ format: "date-time" });
export const NullableInstant = Nullable(Instant);

const INT = 2_147_483_647;

export const Paging = {
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: INT })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: INT })),
};

export const Sorting = { order_by: Type.Optional(Type.Array(Type.String({ maxLength: 100 }))) };

export const Text = Type.Optional(Type.String({ maxLength: 1_000 }));
export const Texts = Type.Optional(Type.Array(Type.String({ maxLength: 1_000 }), { maxItems: 100 }));
export const Flag = Type.Optional(Type.Boolean());
export const Int = Type.Optional(Type.Integer({ minimum: -1, maximum: INT }));
export const Ints = Type.Optional(Type.Array(Type.Integer({ minimum: -1, maximum: INT }), { maxItems: 100 }));

/** `<name>_gte`, `_gt`, `_lte`, `_lt`. */
export const rangeOf = <const N extends string>(name: N) =>
  Object.fromEntries(["gte", "gt", "lte", "lt"].map((bound) => [`${name}_${bound}`, Type.Optional(Instant)])) as Record<
    `${N}_${"gte" | "gt" | "lte" | "lt"}`,
    ReturnType<typeof optionalInstant>
  >;
const optionalInstant = () => Type.Optional(Instant);

const Id = Type.String({ minLength: 1, maxLength: 250 });
export const DagPath = Type.Object({ dag_id: Id });
export const RunPath = Type.Object({ dag_id: Id, dag_run_id: Id });
export const TaskPath = Type.Object({ dag_id: Id, dag_run_id: Id, task_id: Id });
