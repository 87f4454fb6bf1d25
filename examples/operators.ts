// Tasks that need no code of yours: a script, a request, statements, a container, and the operators that choose a way.
// Their options are Jinja templates with Airflow's names, and can have values of other tasks in them.
//
// Asks the address in the param `url`, by default that of Millrace's own API, and needs a connection `weather_db`. With
// { "container": true } it also runs a container, for which docker has to be there.
import { Dag, getContext } from "@millrace/sdk";
import { bash, branch, container, empty, http, latestOnly, shortCircuit, sql } from "@millrace/sdk/operators";

const dag = new Dag("operators", {
  description: "A script, a request, statements and a container, chosen by operators.",
  schedule: null,
  params: { url: "http://127.0.0.1:8080/api/v2/version", limit: 3, container: false },
  tags: ["example"],
  isPausedUponCreation: false,
});

const version = dag.task(
  "version",
  http<object, string>({
    url: "{{ params.url }}",
    headers: { "x-run": "{{ run_id }}" },
    // 429, 5xx and a server that is away are asked again; any other refusal fails the task at once.
    attempts: 5,
    retryDelay: 0.2,
    responseFilter: (response) => String((response.json() as { version?: unknown }).version),
  }),
)();

// Data goes into the script's environment, where none of it is taken for code.
const words = dag.task("words", bash('echo "on {{ ds }} version $VERSION answered"', { env: { VERSION: version } }))();

const rows = dag.task(
  "rows",
  sql<{ n: number; words: string }[]>({
    connectionId: "weather_db",
    // … and here into parameters.
    sql: "select n, $2::text as words from generate_series(1, $1::int) as n order by n",
    params: ["{{ params.limit }}", words],
  }),
)();

const few = dag.task("few", empty())();
const many = dag.task("many", empty())();
dag
  .task(
    "how_many",
    branch(({ rows }: { rows: unknown[] }) => (rows.length > 10 ? many : few)),
  )({ rows })
  .before(few, many);

const wanted = dag
  .task(
    "container_wanted",
    shortCircuit(() => getContext().params["container"] === true),
  )()
  .after(rows);
dag
  .task(
    "in_container",
    container({
      image: "busybox:1.37",
      command: ["sh", "-c", 'echo "$GREETING from $(uname)"'],
      env: { GREETING: "hello on {{ ds }}" },
      network: "none",
    }),
  )()
  .after(wanted);

// In a catch-up, what stands behind it runs for the newest run only.
const newest = dag.task("newest", latestOnly(), { triggerRule: "none_failed" })().after(few, many);
dag.task("done", empty())().after(newest);
