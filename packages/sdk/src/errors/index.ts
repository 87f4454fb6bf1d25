export * from "./dag-definition-error.ts";
export * from "./task-signals.ts";
export * from "./wait-errors.ts";
