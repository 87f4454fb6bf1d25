export * from "./dag-spec.ts";
export type { Json } from "./json.ts";
