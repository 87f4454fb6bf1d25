import type { Config } from "@millrace/shared/config";
import { createLogger } from "@millrace/shared/observability";
import { announce, openBroker, type Announced } from "@millrace/shared/queue";

export interface Announcer {
  announce(change: Announced): void;
  close(): Promise<void>;
}

/**
 * Ready to tell schedulers and workers of a change at once: opened before the change is made, since connecting takes
 * longer than a task that has to stop should go on. Only a hint: without a broker they find it a few seconds later.
 */
export async function openAnnouncer(config: Config): Promise<Announcer> {
  const silent = { announce: () => undefined, close: () => Promise.resolve() };
  if (config.broker.url === "") return silent;
  const log = createLogger({ level: "silent", name: "cli" });
  const broker = openBroker({ ...config.broker, databaseUrl: config.database.url, log });
  try {
    await broker.check();
  } catch {
    // Who runs the broker will hear of it from the processes.
    await broker.close();
    return silent;
  }
  return { announce: (change) => announce(broker, change), close: () => broker.close() };
}

/** Tells of a change that was made. */
export async function announceChange(config: Config, change: Announced): Promise<void> {
  if (change.dagRunIds.length === 0 && change.stopped.length === 0) return;
  const announcer = await openAnnouncer(config);
  announcer.announce(change);
  await announcer.close();
}
