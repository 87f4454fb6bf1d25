// The statements by which DAG files become rows: dag, dag_version, serialized_dag, dag_code, dag_tag, dag_warning, import_error,
// and the plans of custom schedules, timetable_plan.
export * from "./dag-activate-assets.ts";
export * from "./dag-bundle-version.ts";
export * from "./dag-clear-import-error.ts";
export * from "./dag-insert-artifact.ts";
export * from "./dag-insert-versions.ts";
export * from "./dag-lock-file.ts";
export * from "./dag-lock-to-plan.ts";
export * from "./dag-mark-stale.ts";
export * from "./dag-put-import-error.ts";
export * from "./dag-put-assets.ts";
export * from "./dag-read-pools.ts";
export * from "./dag-read-state.ts";
export * from "./dag-replace-asset-references.ts";
export * from "./dag-replace-tags.ts";
export * from "./dag-replace-warnings.ts";
export * from "./dag-retire-files.ts";
export * from "./dag-set-pointers.ts";
export * from "./dag-touch.ts";
export * from "./dag-upsert.ts";
export * from "./timetable-keep-rest.ts";
export * from "./timetable-plans-to-fill.ts";
export * from "./timetable-put-plans.ts";
export * from "./timetable-read-plans.ts";
export * from "./timetable-set-errors.ts";
export * from "./timetable-store-answer.ts";
