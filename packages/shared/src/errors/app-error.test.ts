import { describe, expect, test } from "vitest";
import { AppError, ERRORS, messageOf, type ErrorCode } from "./index.ts";

describe("an error for people", () => {
  test("says its sentence with the values of the place", () => {
    const cause = new Error("refused");
    const error = new AppError("RUN_EXISTS", { dagId: "etl", runId: "r$1" }, { cause });
    expect(error.message).toBe("DAG etl already has a run r$1. Leave the run id out to get a unique one.");
    expect(error).toMatchObject({ name: "AppError", httpStatus: 409, exitCode: 1, retryable: false, cause });
    expect(error.values).toEqual({ dagId: "etl", runId: "r$1" });
  });

  test("shows a value that was forgotten by its name instead of hiding it", () => {
    expect(new AppError("DAG_NOT_FOUND").message).toContain("{dagId}");
  });

  test.each(Object.keys(ERRORS) as ErrorCode[])(
    "%s has an area, a sentence, and a status and exit code that mean failure",
    (code) => {
      const { message, httpStatus, exitCode, retryable } = ERRORS[code];
      expect(code).toMatch(/^[A-Z]+(_[A-Z]+)+$/);
      expect(message).toMatch(/[.?}]$/);
      expect(httpStatus).toBeGreaterThanOrEqual(400);
      expect(exitCode).toBeGreaterThan(0);
      // What trying again can heal is said to HTTP clients by a status that means it.
      if (retryable) expect([429, 503]).toContain(httpStatus);
    },
  );
});

test("the message of anything thrown is found", () => {
  expect(messageOf(new Error("no"))).toBe("no");
  expect(messageOf("plain")).toBe("plain");
  expect(messageOf(undefined)).toBe("undefined");
  // Node connects to several addresses at once and says nothing of its own.
  expect(messageOf(new AggregateError([new Error("ECONNREFUSED ::1"), new Error("other")]))).toBe("ECONNREFUSED ::1");
});
