export { AppError, messageOf, type ErrorValues } from "./app-error.ts";
export type { ErrorDefinition } from "./define-errors.ts";
export { ERRORS, type ErrorCode } from "./registry.ts";
