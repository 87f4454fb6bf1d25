import type { Config } from "@millrace/shared/config";
import { createLogger } from "@millrace/shared/observability";
import { openBroker } from "@millrace/shared/queue";

/**
 * Tells the schedulers of a new run, or with null to look around. Only a hint: without it they find it at their next look,
 * a second later.
 */
export async function wakeSchedulers(config: Config, dagRunId: number | null): Promise<void> {
  if (config.broker.url === "") return;
  const log = createLogger({ level: "silent", name: "cli" });
  const broker = openBroker({ ...config.broker, databaseUrl: config.database.url, log });
  try {
    await broker.check();
    broker.wake([{ dagRunId, taskIds: null }]);
  } catch {
    // The run is in the database; who runs the broker will hear of it from the processes.
  } finally {
    await broker.close();
  }
}
