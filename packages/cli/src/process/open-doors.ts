// What every long-lived process needs before it starts: configuration, a migrated database and a safe broker.
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "@millrace/shared/config";
import { requireSchema, type Database } from "@millrace/shared/db";
import { AppError } from "@millrace/shared/errors";
import type { Logger } from "@millrace/shared/observability";
import { openBroker, type Broker } from "@millrace/shared/queue";
import { openDatabase } from "./open-database.ts";

export interface Doors {
  readonly db: Database;
  readonly broker: Broker;
  readonly config: Config;
  readonly log: Logger;
}

/** @throws AppError saying which of the two is down, unmigrated or unsafe. */
export async function openDoors(config: Config, name: string, log: Logger): Promise<Doors> {
  const db = openDatabase(config, name, log);
  let broker: Broker | undefined;
  try {
    await db.check();
    await requireSchema(config.database.url);
    broker = openBroker({ ...config.broker, databaseUrl: config.database.url, log });
    await broker.check();
    return { db, broker, config, log };
  } catch (error) {
    await broker?.close();
    await db.close();
    throw error;
  }
}

export async function closeDoors({ db, broker }: Doors): Promise<void> {
  await broker.close();
  await db.close();
}

const WORTH_WAITING = new Set(["DATABASE_UNREACHABLE", "DATABASE_NOT_MIGRATED", "BROKER_UNREACHABLE"]);

export interface WaitPlan {
  readonly seconds: number;
  /** Told once for each thing that is waited for. */
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** As `openDoors`, tried again for a while: for machines where everything starts at once. */
export async function waitForDoors(open: () => Promise<Doors>, { seconds, say, signal }: WaitPlan): Promise<Doors> {
  const deadline = performance.now() + seconds * 1000;
  let said = "";
  for (;;) {
    try {
      return await open();
    } catch (error) {
      const hopeless = !(error instanceof AppError) || !WORTH_WAITING.has(error.code);
      if (hopeless || performance.now() >= deadline || signal.aborted) throw error;
      if (said !== error.code) say(`waiting up to ${seconds} s: ${error.message}`);
      said = error.code;
      await sleep(500, undefined, { signal }).catch(() => undefined);
    }
  }
}
