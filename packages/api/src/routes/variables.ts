import { insertLog } from "@millrace/shared/db";
import { AppError } from "@millrace/shared/errors";
import type { StoredVariable } from "@millrace/shared/secrets";
import { Type } from "typebox";
import { userName } from "../auth/guard.ts";
import type { App, Context } from "../http/app.ts";
import { pageOf } from "../http/paging.ts";
import { pageOfList } from "../http/sort-list.ts";
import { HIDDEN, presentVariable, sentVariable } from "../present/present-secrets.ts";
import { Paging, Sorting, Text, Texts } from "../schemas/common.ts";
import { Variable, VariableBody, VariableCollection, VariableKey } from "../schemas/secrets.ts";

const BASE = "/api/v2/variables";
const SORTS = {
  key: (variable: StoredVariable) => variable.key,
  description: (variable: StoredVariable) => variable.description,
  is_encrypted: (variable: StoredVariable) => variable.isEncrypted,
};

export function variableRoutes(app: App, { db, config, secrets, known }: Context): void {
  const answer = async (key: string) => {
    const variable = await secrets.stored.findVariable(key);
    if (variable === undefined) throw new AppError("VARIABLE_NOT_FOUND", { key });
    return presentVariable(variable, await known.redactor());
  };
  const note = (event: string, key: string, user: string) =>
    [insertLog, [[event], [null], [null], [null], [null], [null], [user], [JSON.stringify({ key })]]] as const;

  const ListQuery = Type.Object({ ...Paging, ...Sorting, variable_key_pattern: Text });
  app.get(BASE, { schema: { querystring: ListQuery, response: { 200: VariableCollection } } }, async ({ query }) => {
    const redactor = await known.redactor();
    const { items, total } = pageOfList(
      await secrets.stored.listVariables(),
      { ...pageOf(query, config.api), orderBy: query.order_by, pattern: query.variable_key_pattern },
      ({ key }) => key,
      SORTS,
    );
    return { variables: items.map((variable) => presentVariable(variable, redactor)), total_entries: total };
  });

  app.post(BASE, { schema: { body: VariableBody, response: { 201: Variable } } }, async (request, reply) => {
    const { key, value, description } = request.body;
    await db.transaction(async (tx) => {
      await secrets.within(tx).setVariable(key, textOf(value), description, "add");
      await tx.run(...note("post_variable", key, userName(request)));
    });
    return await reply.code(201).send(await answer(key));
  });

  const Path = Type.Object({ key: VariableKey });
  app.get(
    `${BASE}/:key`,
    { schema: { params: Path, response: { 200: Variable } } },
    async ({ params }) => await answer(params.key),
  );

  const PatchQuery = Type.Object({ update_mask: Texts });
  const Patch = Type.Partial(VariableBody, { additionalProperties: false });
  app.patch(
    `${BASE}/:key`,
    { schema: { params: Path, querystring: PatchQuery, body: Patch, response: { 200: Variable } } },
    async (request) => {
      const key = request.params.key;
      const { body, query } = request;
      if (body.key !== undefined && body.key !== key) {
        throw new AppError("VARIABLE_INVALID", { key, cause: `the body names another one, ${body.key}` });
      }
      const isChanged = (field: "value" | "description") =>
        query.update_mask?.includes(field) ?? body[field] !== undefined;
      const redactor = await known.redactor();
      await db.transaction(async (tx) => {
        const stored = secrets.within(tx);
        const before = await stored.findVariable(key);
        if (before === undefined) throw new AppError("VARIABLE_NOT_FOUND", { key });
        const given = isChanged("value") ? textOf(body.value) : HIDDEN;
        // One that no key opens can be replaced, and not kept.
        const old = given === HIDDEN ? ((await stored.getVariable(key)) ?? "") : (before.value ?? "");
        await stored.setVariable(
          key,
          sentVariable(key, given, old, redactor),
          isChanged("description") ? (body.description ?? "") : null,
        );
        await tx.run(...note("patch_variable", key, userName(request)));
      });
      return await answer(key);
    },
  );

  app.delete(`${BASE}/:key`, { schema: { params: Path } }, async (request, reply) => {
    const key = request.params.key;
    await db.transaction(async (tx) => {
      if (!(await secrets.within(tx).deleteVariable(key))) throw new AppError("VARIABLE_NOT_FOUND", { key });
      await tx.run(...note("delete_variable", key, userName(request)));
    });
    return await reply.code(204).send();
  });
}

/** What is no text is kept as JSON. */
const textOf = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
