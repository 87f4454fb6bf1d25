export * from "./dags.ts";
export type { TimeRange } from "./filters.ts";
export * from "./health.ts";
export * from "./operations.ts";
export type { Page, PageRequest, Reader } from "./query.ts";
export * from "./runs.ts";
export * from "./task-instances.ts";
export * from "./versions.ts";
export * from "./xcoms.ts";
