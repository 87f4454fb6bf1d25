export { checkDefaults, checkParams, checkRunFits, checkRunParams, type CheckedParams } from "./check-params.ts";
