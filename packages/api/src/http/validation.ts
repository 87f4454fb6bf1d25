// Input is checked before a handler sees it. Texts of paths and queries become numbers, booleans and lists where the
// schema says so; a JSON body already has types and is never bent: `null` is not `false`.
import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Value } from "typebox/value";

export interface Complaint {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
}

export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const check = Compile(schema);
  return (given: unknown) => {
    const value: unknown = httpPart === "body" ? given : Value.Convert(schema, given);
    return check.Check(value) ? { value } : { error: [...check.Errors(value)] as unknown as Error };
  };
};

/** As Airflow's clients expect it: where, what, and of which kind. */
export const describeComplaints = (context: string, complaints: readonly Complaint[]) =>
  complaints.slice(0, 20).map((complaint) => ({
    loc: [PARTS[context] ?? context, ...complaint.instancePath.split("/").slice(1)],
    msg: complaint.message,
    type: complaint.keyword,
  }));

const PARTS: Readonly<Record<string, string>> = { querystring: "query", params: "path", headers: "header" };
