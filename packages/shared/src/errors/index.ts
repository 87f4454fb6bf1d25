export { AppError, messageOf, type ErrorValues } from "./app-error.ts";
export { ERRORS, type ErrorCode, type ErrorDefinition } from "./registry.ts";
