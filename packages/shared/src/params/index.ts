export { checkParams, type CheckedParams } from "./check-params.ts";
