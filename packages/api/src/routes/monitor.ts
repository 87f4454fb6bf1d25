import { readHealth, type ProcessHealth } from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import type { App, Context } from "../http/app.ts";
import { instant } from "../present/present-dag.ts";
import { Health, Version } from "../schemas/operations.ts";
import { VERSION } from "../version.ts";
import type { Health as HealthAnswer } from "../types/index.ts";

export function monitorRoutes(app: App, { db, config, log }: Context): void {
  const limits = {
    SchedulerJob: config.scheduler.scheduler_health_check_threshold,
    TriggererJob: config.triggerer.triggerer_health_check_threshold,
    DagProcessorJob: Math.max(30, 3 * config.dag_processor.job_heartbeat_sec),
  };

  // Always 200: whoever probes the API learns about the others from the body.
  app.get(
    "/api/v2/monitor/health",
    { config: { public: true }, schema: { response: { 200: Health } } },
    async (): Promise<HealthAnswer> => {
      let processes: readonly ProcessHealth[] | undefined;
      try {
        processes = await readHealth(db);
      } catch (error) {
        log.warn({ cause: messageOf(error) }, "health could not be read from the database");
      }
      const statusOf = (type: keyof typeof limits, absent: "unhealthy" | null) => {
        const found = processes?.find((process) => process.jobType === type);
        const alive = found?.state === "running" && found.silentSeconds <= limits[type];
        const status: "healthy" | "unhealthy" | null = alive ? "healthy" : found === undefined ? absent : "unhealthy";
        return { status, heartbeat: instant(found?.latestHeartbeat ?? null) };
      };
      const scheduler = statusOf("SchedulerJob", "unhealthy");
      const triggerer = statusOf("TriggererJob", null);
      const dagProcessor = statusOf("DagProcessorJob", null);
      return {
        metadatabase: { status: processes === undefined ? "unhealthy" : "healthy" },
        scheduler: { status: scheduler.status, latest_scheduler_heartbeat: scheduler.heartbeat },
        triggerer: { status: triggerer.status, latest_triggerer_heartbeat: triggerer.heartbeat },
        dag_processor: { status: dagProcessor.status, latest_dag_processor_heartbeat: dagProcessor.heartbeat },
      };
    },
  );

  app.get("/api/v2/version", { config: { public: true }, schema: { response: { 200: Version } } }, () => ({
    version: VERSION,
    git_version: null,
  }));
}
