import type { RunScope } from "../runtime/run-scope.ts";

/** The variables that Airflow gives to every process of a task; those without a value are left out. */
export function contextEnv({ context, owners }: RunScope): Readonly<Record<string, string>> {
  const values = {
    AIRFLOW_CTX_DAG_ID: context.dagId,
    AIRFLOW_CTX_TASK_ID: context.taskId,
    AIRFLOW_CTX_DAG_RUN_ID: context.runId,
    AIRFLOW_CTX_TRY_NUMBER: String(context.tryNumber),
    AIRFLOW_CTX_DAG_OWNER: owners.join(","),
    AIRFLOW_CTX_LOGICAL_DATE: context.logicalDate === null ? "" : isoformat(context.logicalDate),
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
}

/** As Python's `datetime.isoformat()` writes an instant in UTC, which is what scripts written for Airflow parse. */
function isoformat(instant: Date): string {
  return instant.toISOString().replace(/\.(\d{3})Z$/, (_, millis: string) => {
    return millis === "000" ? "+00:00" : `.${millis}000+00:00`;
  });
}
