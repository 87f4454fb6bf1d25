export { checkDefaults, checkParams, checkRunParams, type CheckedParams } from "./check-params.ts";
