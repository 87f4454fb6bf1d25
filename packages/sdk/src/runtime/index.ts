export { artifact } from "./artifact.ts";
export * from "./protocol.ts";
export { findFile } from "../sensors/find-file.ts";
