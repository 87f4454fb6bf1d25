// A daily load of real data, one day of Seattle's weather a run: extract, check, load into Postgres, sum up the month,
// branch on rain, write a report. Every step may be killed and run again without a row too many or a report cut short.
//
// Needs a connection `weather_db`; writes reports into the folder of the variable `weather_report_folder`, else of the
// param `report_folder`, else of the system's temporary directory.
import { mkdir, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Dag, getClient, getContext } from "@millrace/sdk";
import pg from "pg";
import csv from "vega-datasets/data/seattle-weather.csv";

interface Day {
  readonly date: string;
  /** Millimetres. */
  readonly precipitation: number;
  /** Degrees Celsius. */
  readonly tempMax: number;
  readonly tempMin: number;
  readonly wind: number;
  readonly weather: string;
}

const dag = new Dag("weather", {
  description: "Loads Seattle's weather of January 2012, a day a run.",
  schedule: "@daily",
  startDate: new Date("2012-01-01T00:00:00Z"),
  endDate: new Date("2012-01-31T00:00:00Z"),
  catchup: true,
  maxActiveRuns: 3,
  params: { report_folder: "" },
  tags: ["example", "weather"],
  isPausedUponCreation: false,
});

/** A lost worker or a database that restarts costs a try, not the day. */
const KEEP_TRYING = { retries: 3, retryDelay: 1 };

const extract = dag.task(function extract(): Day {
  const date = getContext().dataIntervalStart?.toISOString().slice(0, 10) ?? "";
  const line = csv.split("\n").find((row) => row.startsWith(`${date},`));
  if (date === "" || line === undefined)
    throw new Error(`There is no weather of ${date || "a run without an interval"}`);
  const [, precipitation, tempMax, tempMin, wind, weather = ""] = line.trim().split(",");
  return {
    date,
    precipitation: Number(precipitation),
    tempMax: Number(tempMax),
    tempMin: Number(tempMin),
    wind: Number(wind),
    weather,
  };
}, KEEP_TRYING);

const check = dag.task(function check({ day }: { day: Day }): Day {
  const measures = [day.precipitation, day.tempMax, day.tempMin, day.wind];
  if (measures.some((measure) => !Number.isFinite(measure)))
    throw new Error(`${day.date} has a measure that is no number`);
  if (day.precipitation < 0 || day.tempMin > day.tempMax)
    throw new Error(`${day.date} cannot be: ${JSON.stringify(day)}`);
  return day;
}, KEEP_TRYING);

const load = dag.task(async function load({ day }: { day: Day }): Promise<string> {
  await withDatabase(async (db) => {
    await db.query("begin");
    // Runs of several days come here at once, and Postgres does not let two of them create one table.
    await db.query("select pg_advisory_xact_lock(hashtext('weather_day'))");
    await db.query(`
      create table if not exists weather_day (
        date date primary key,
        precipitation double precision not null,
        temp_max double precision not null,
        temp_min double precision not null,
        wind double precision not null,
        weather text not null
      )`);
    await db.query(
      `insert into weather_day (date, precipitation, temp_max, temp_min, wind, weather) values ($1, $2, $3, $4, $5, $6)
       on conflict (date) do update set precipitation = excluded.precipitation, temp_max = excluded.temp_max,
         temp_min = excluded.temp_min, wind = excluded.wind, weather = excluded.weather`,
      [day.date, day.precipitation, day.tempMax, day.tempMin, day.wind, day.weather],
    );
    await db.query("commit");
  });
  return day.date;
}, KEEP_TRYING);

const sumUpMonth = dag.task(
  "sum_up_month",
  async ({ date }: { date: string }) => {
    const month = date.slice(0, 7);
    const rows = await withDatabase(async (db) => {
      const result = await db.query<{ days: number; rain: number; warmest: number }>(
        `select count(*)::int as days, sum(precipitation) as rain, max(temp_max) as warmest
       from weather_day where date >= $1::date and date < $1::date + interval '1 month' and date <= $2::date`,
        [`${month}-01`, date],
      );
      return result.rows;
    });
    return { month, days: rows[0]?.days ?? 0, rain: rows[0]?.rain ?? 0, warmest: rows[0]?.warmest ?? 0 };
  },
  KEEP_TRYING,
);

const isRainy = dag.task("is_rainy", ({ day }: { day: Day }) => day.precipitation > 0);
const umbrella = dag.task("umbrella", () => "Take an umbrella.");
const sunglasses = dag.task("sunglasses", () => "Take sunglasses.");

interface ReportArguments {
  readonly day?: Day | undefined;
  readonly month?:
    { readonly month: string; readonly days: number; readonly rain: number; readonly warmest: number } | undefined;
  readonly wet?: string | undefined;
  readonly dry?: string | undefined;
}

// One of its two upstream arms is always skipped, so a value may be missing.
const report = dag.task(
  "report",
  async ({ day, month, wet, dry }: ReportArguments): Promise<string> => {
    if (day === undefined || month === undefined) throw new Error("The day or its month is missing");
    const folder =
      (await getClient().getVariable("weather_report_folder")) ||
      String(getContext().params["report_folder"] ?? "") ||
      join(tmpdir(), "millrace-weather");
    const lines = [
      `# Seattle, ${day.date}`,
      `${day.weather}, ${day.tempMin} to ${day.tempMax} °C, ${day.precipitation} mm. ${wet ?? dry ?? ""}`,
      `${month.month} so far: ${month.days} days, ${month.rain.toFixed(1)} mm, ${month.warmest} °C at most.`,
    ];
    const path = join(folder, `${day.date}.md`);
    await mkdir(folder, { recursive: true });
    // Renamed into place, so that a report is there whole or not at all.
    const draft = `${path}.${process.pid}.draft`;
    await writeFile(draft, `${lines.join("\n\n")}\n`);
    await rename(draft, path);
    return path;
  },
  { ...KEEP_TRYING, triggerRule: "none_failed_min_one_success", returnsDagResult: true },
);

const day = check({ day: extract() });
const month = sumUpMonth({ date: load({ day }) });
const rainy = isRainy({ day });
const [wet, dry] = [umbrella(), sunglasses()];
dag.if(rainy).then(wet).else(dry);
report({ day, month, wet, dry });

async function withDatabase<T>(work: (db: pg.Client) => Promise<T>): Promise<T> {
  const { host, port, login, password, schema } = await getClient().getConnectionOrThrow("weather_db");
  const db = new pg.Client({ host, port, user: login, password, database: schema });
  await db.connect();
  try {
    return await work(db);
  } finally {
    await db.end();
  }
}
