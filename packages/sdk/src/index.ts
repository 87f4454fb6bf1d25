export { Asset, AssetAlias, AssetRef, type AssetOptions, type AssetUse, type AssetWatcher } from "./assets/asset.ts";
export {
  allOf,
  allowedKeys,
  anyOf,
  assetOrTime,
  chainOf,
  partitionedAssets,
  productOf,
  sameKey,
  startOf,
  type AssetAll,
  type AssetAny,
  type AssetCondition,
  type AssetOrTime,
  type PartitionedAssets,
} from "./assets/conditions.ts";
export { Bundle } from "./authoring/bundle.ts";
export { Dag } from "./authoring/dag.ts";
export type { DagTestLogLine, DagTestOptions, DagTestResult, DagTestTask, TaskMock } from "./authoring/dag-test.ts";
export type {
  DagCallback,
  DagCallbackEvent,
  DagOptions,
  Param,
  Schedule,
  SchedulePreset,
  TaskGroupOptions,
} from "./authoring/dag-options.ts";
export type {
  Handler,
  Input,
  Inputs,
  Lists,
  Mappable,
  NoArguments,
  OutputOf,
  Returned,
  TaskBody,
  TaskFactory,
} from "./authoring/handlers.ts";
export { concat, zip, zipLongest } from "./authoring/lists.ts";
export { collect } from "./authoring/node-ref.ts";
export type {
  DagEnd,
  DagTaskEnd,
  LazyList,
  ListOf,
  MappedRef,
  MappedTaskRef,
  Output,
  TaskRef,
  TeardownOptions,
  ValueRef,
} from "./authoring/refs.ts";
export {
  cron,
  cronTrigger,
  events,
  every,
  multipleCron,
  type CronOptions,
  type CronTriggerOptions,
  type DeclaredSchedule,
  type Duration,
  type EventsOptions,
} from "./authoring/schedules.ts";
export {
  defineTimetable,
  type Timetable,
  type TimetableInterval,
  type TimetableQuestion,
  type TimetableRun,
} from "./authoring/timetable.ts";
export type { TaskCallback, TaskCallbackEvent, TaskOptions } from "./authoring/task-options.ts";
export type { TaskGroup, TriggerDagRunTask } from "./authoring/task-scope.ts";
export * from "./errors/index.ts";
export {
  deferrable,
  type DeferrableOptions,
  type DoneOf,
  type EventOf,
  type NoEvent,
  type StartFromTriggerOptions,
  type StateOf,
} from "./waiting/deferrable.ts";
export { Wait, waitFor, type WaitOptions } from "./waiting/wait-for.ts";
export { approval, type ApprovalOptions } from "./people/approval.ts";
export { hitl, type HitlOptions } from "./people/hitl.ts";
export type { HitlAnswer, HitlAnswer as HITLResult, HitlUser, QuestionOptions } from "./people/question.ts";
export type { ConnectionValue, DagProblem, TaskError } from "./runtime/protocol.ts";
export type {
  AliasEventDraft,
  AssetEvent,
  AssetEvents,
  OutletEventDraft,
  OutletEvents,
} from "./runtime/asset-events.ts";
export { getClient, getContext, mask, NoRunningTask } from "./runtime/run-scope.ts";
export {
  NotFound,
  NotFound as ConnectionNotFoundError,
  NotFound as VariableNotFoundError,
  type AssetEventsOptions,
  type AssetState,
  type TaskClient,
  type XComEntry,
  type XComQuery,
} from "./runtime/task-client.ts";
export type { TaskContext } from "./runtime/task-context.ts";
export type { Catchup, DagSpec, DstPolicy, Json, ScheduleSpec, TriggerRule, WeightRule } from "./spec/index.ts";
export type { JsonSafe } from "./values/json-safe.ts";
export type { StandardSchema } from "./authoring/standard-schema.ts";
export { ValueNotStorable } from "./values/encode-json.ts";
