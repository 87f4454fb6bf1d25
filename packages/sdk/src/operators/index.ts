export { bash, BashFailed, type BashOptions } from "./bash.ts";
export { branch, type BranchChoice } from "./branch.ts";
export { container, ContainerFailed, type ContainerOptions, type ContainerVolume } from "./container.ts";
export { empty } from "./empty.ts";
export { externalTaskMarker, type ExternalTaskMarkerOptions } from "./external-task-marker.ts";
export { externalTask, type ExternalTaskSensorOptions } from "../sensors/external-task-sensor.ts";
export { http, HttpFailed, HttpRefused, type HttpOptions, type HttpResponse } from "./http.ts";
export { latestOnly } from "./latest-only.ts";
export { Operator } from "./operator.ts";
export type { PerRun } from "./per-run.ts";
export {
  triggerDagRun,
  type TriggerDagRunOptions,
  type TriggerDagRunSettings,
  type TriggeredRun,
} from "./trigger-dag-run.ts";
export { shortCircuit, type ShortCircuitOptions } from "./short-circuit.ts";
export { sql, type SqlOptions, type SqlStatement } from "./sql.ts";
