export * from "./dag-spec.ts";
export * from "./external-states.ts";
export type { Json } from "./json.ts";
export { fieldsOf } from "../values/codec.ts";
