import type { Config } from "@millrace/shared/config";
import { createLogger } from "@millrace/shared/observability";
import { announce, openBroker, type Announced } from "@millrace/shared/queue";

/** Tells schedulers and workers of what was changed. Only a hint: without it they find it a few seconds later. */
export async function announceChange(config: Config, change: Announced): Promise<void> {
  if (config.broker.url === "" || (change.dagRunIds.length === 0 && change.stopped.length === 0)) return;
  const log = createLogger({ level: "silent", name: "cli" });
  const broker = openBroker({ ...config.broker, databaseUrl: config.database.url, log });
  try {
    await broker.check();
    announce(broker, change);
  } catch {
    // The change is in the database; who runs the broker will hear of it from the processes.
  } finally {
    await broker.close();
  }
}
