import { ERRORS, type ErrorCode } from "./registry.ts";

export type ErrorValues = Readonly<Record<string, string | number>>;

/** An error for people: what was wrong, where, and what to do. The code is stable, the sentence may improve. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  readonly values: ErrorValues;

  constructor(code: ErrorCode, values: ErrorValues = {}, options?: { cause?: unknown }) {
    super(
      ERRORS[code].message.replace(/\{(\w+)\}/g, (whole, key: string) => String(values[key] ?? whole)),
      options,
    );
    this.code = code;
    this.values = values;
  }

  get httpStatus(): number {
    return ERRORS[this.code].httpStatus;
  }

  get exitCode(): number {
    return ERRORS[this.code].exitCode;
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable;
  }
}

/** The message of anything thrown, for a sentence that quotes a cause. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "" && error.errors.length > 0) {
    return messageOf(error.errors[0]);
  }
  return error instanceof Error ? error.message : String(error);
}
