// Airflow's addresses, because people paste them.
export type Route =
  | { readonly page: "dags" }
  | { readonly page: "dag"; readonly dagId: string }
  | { readonly page: "run"; readonly dagId: string; readonly runId: string }
  | TaskRoute
  | { readonly page: "login" }
  | { readonly page: "unknown" };

export interface TaskRoute {
  readonly page: "task";
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  /** -1: not mapped. */
  readonly mapIndex: number;
}

export function matchRoute(path: string): Route {
  let parts: string[];
  try {
    parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return { page: "unknown" };
  }
  const [first, dagId, runs, runId, tasks, taskId, mapped, index] = parts;
  if (first === undefined) return { page: "dags" };
  if (first === "login" && dagId === undefined) return { page: "login" };
  if (first !== "dags") return { page: "unknown" };
  if (dagId === undefined) return { page: "dags" };
  if (runs === undefined) return { page: "dag", dagId };
  if (runs !== "runs" || runId === undefined) return { page: "unknown" };
  if (tasks === undefined) return { page: "run", dagId, runId };
  if (tasks !== "tasks" || taskId === undefined) return { page: "unknown" };
  if (mapped === undefined) return { page: "task", dagId, runId, taskId, mapIndex: -1 };
  const mapIndex = Number(index);
  return mapped === "mapped" && Number.isInteger(mapIndex) && mapIndex >= 0
    ? { page: "task", dagId, runId, taskId, mapIndex }
    : { page: "unknown" };
}

const path = (...parts: readonly string[]): string => `/${parts.map(encodeURIComponent).join("/")}`;
export const dagPath = (dagId: string): string => path("dags", dagId);
export const runPath = (dagId: string, runId: string): string => path("dags", dagId, "runs", runId);
export function taskPath(dagId: string, runId: string, taskId: string, mapIndex = -1): string {
  const base = path("dags", dagId, "runs", runId, "tasks", taskId);
  return mapIndex < 0 ? base : `${base}/mapped/${mapIndex}`;
}

/** Where to go after a login: a place of ours, never another site. */
export const safeNext = (next: string | null): string =>
  next !== null && /^\/(?![/\\])/.test(next) && !next.startsWith("/login") ? next : "/dags";
