// What a client is told when something goes wrong: a sentence made for people, never a stack, a statement or a path.
// What it is not told is in the log, under an id that both see.
import { randomUUID } from "node:crypto";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { CommitUnknownError, isUnavailable } from "@millrace/shared/db";
import { AppError } from "@millrace/shared/errors";
import type { Logger } from "@millrace/shared/observability";
import { describeComplaints, type Complaint } from "./validation.ts";

const UNREADABLE_BODY = new Set(["FST_ERR_CTP_INVALID_JSON_BODY", "FST_ERR_CTP_EMPTY_JSON_BODY"]);

export function handleErrors(app: FastifyInstance, log: Logger): void {
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    if (error instanceof AppError) return answer(reply, error.httpStatus, error.message);
    if (error.validation !== undefined) {
      const complaints = error.validation as unknown as readonly Complaint[];
      return answer(reply, 422, describeComplaints(error.validationContext ?? "body", complaints));
    }
    if (UNREADABLE_BODY.has(error.code)) {
      return answer(reply, 422, [{ loc: ["body"], msg: "is not JSON", type: "json_invalid" }]);
    }
    const status = error.statusCode ?? 500;
    if (status < 500) return answer(reply, status, error.message);
    return answerFailure(error, request, reply, log);
  });
}

function answerFailure(error: Error, request: FastifyRequest, reply: FastifyReply, log: Logger): FastifyReply {
  const id = randomUUID();
  log.error({ err: error, id, method: request.method, route: request.routeOptions.url }, "a request failed");
  if (error instanceof CommitUnknownError) {
    return answer(reply, 503, `It is not known whether this was done; look before trying again (${id}).`);
  }
  if (isUnavailable(error)) {
    const isRead = request.method === "GET" || request.method === "HEAD";
    const then = isRead ? "Try again in a moment." : "Look whether this was done before you try again.";
    return answer(
      reply.header("retry-after", "5"),
      503,
      `The database cannot answer this at the moment. ${then} (${id})`,
    );
  }
  return answer(reply, 500, `Something went wrong. The log of the API has more under ${id}.`);
}

const answer = (reply: FastifyReply, status: number, detail: unknown): FastifyReply =>
  reply.code(status).type("application/json; charset=utf-8").send({ detail });
