import type { Health } from "@millrace/api/types";

export interface HealthLine {
  readonly tone: "good" | "bad" | "unknown";
  readonly text: string;
}

/** One line about all processes: what is missing, or that nothing is. */
export function describeHealth(health: Health | undefined): HealthLine {
  if (health === undefined) return { tone: "unknown", text: "" };
  if (health.metadatabase.status !== "healthy") return { tone: "bad", text: "Database unreachable" };
  const parts = { Scheduler: health.scheduler, "DAG processor": health.dag_processor, Triggerer: health.triggerer };
  const down = Object.entries(parts)
    .filter(([, part]) => part.status === "unhealthy")
    .map(([name]) => name);
  return down.length === 0
    ? { tone: "good", text: "All processes healthy" }
    : { tone: "bad", text: `${down.join(", ")} not running` };
}
