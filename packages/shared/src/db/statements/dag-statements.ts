// The statements by which DAG files become rows: dag, dag_version, serialized_dag, dag_code, dag_tag, dag_warning, import_error.
export * from "./dag-clear-import-error.ts";
export * from "./dag-insert-artifact.ts";
export * from "./dag-insert-versions.ts";
export * from "./dag-lock-file.ts";
export * from "./dag-lock-to-plan.ts";
export * from "./dag-mark-stale.ts";
export * from "./dag-put-import-error.ts";
export * from "./dag-read-pools.ts";
export * from "./dag-read-state.ts";
export * from "./dag-replace-tags.ts";
export * from "./dag-replace-warnings.ts";
export * from "./dag-retire-files.ts";
export * from "./dag-set-pointers.ts";
export * from "./dag-touch.ts";
export * from "./dag-upsert.ts";
