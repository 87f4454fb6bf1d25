export { artifact } from "./artifact.ts";
export * from "./protocol.ts";
