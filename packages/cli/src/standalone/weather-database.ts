import { provideConnection } from "@millrace/shared/config";
import type { Database } from "@millrace/shared/db";

const NAME = "weather";
const CONNECTION = "weather_db";

/** A database of their own for the examples, and the connection by which their tasks find it. */
export async function provideWeatherDatabase(db: Database): Promise<void> {
  const found = await db.read("select 1 from pg_database where datname = $1", [NAME]);
  if (found.length === 0) await db.read(`create database ${NAME}`);
  const url = new URL(db.url);
  url.pathname = `/${NAME}`;
  provideConnection(CONNECTION, url.href);
}
