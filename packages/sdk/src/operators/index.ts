export { bash, BashFailed, type BashOptions, type PerRun } from "./bash.ts";
export { branch, type BranchChoice } from "./branch.ts";
export { empty } from "./empty.ts";
export { latestOnly } from "./latest-only.ts";
export { Operator } from "./operator.ts";
export { shortCircuit, type ShortCircuitOptions } from "./short-circuit.ts";
