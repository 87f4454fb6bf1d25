export { artifact } from "./artifact.ts";
export * from "./protocol.ts";
export { connectionTarget, mergeHeaders, urlTarget, type HttpTarget } from "./http-target.ts";
export { fieldAt } from "../values/codec.ts";
export { findFile } from "../sensors/find-file.ts";
