// For the operators' own test: what a run has to stop, and what is wrong. The address and the folder come with the run.
import { Dag } from "@millrace/sdk";
import { bash, container, empty, externalTask, http, sql, triggerDagRun } from "@millrace/sdk/operators";

const hidden = { isPausedUponCreation: false, tags: ["test"], maxActiveTasks: 50 };

const retries = new Dag("operators_http", hidden);
const later = { retries: 1, retryDelay: 0.1 };
retries.task("busy", http({ url: "{{ dag_run.conf.url }}/busy", retryDelay: 0.05 }), later)();
retries.task("broken", http({ url: "{{ dag_run.conf.url }}/broken", retryDelay: 0.05, attempts: 2 }), later)();
retries.task("refused", http({ url: "{{ dag_run.conf.url }}/refused" }), later)();
retries.task("gone", http({ url: "http://127.0.0.1:2/", retryDelay: 0.05, attempts: 2 }), later)();

const other = new Dag("operators_others", hidden);
const child = other.task("start", triggerDagRun({ dagId: "operators_child", conf: { from: "{{ run_id }}" } }))();
other
  .task(
    "wait",
    externalTask({
      externalDagId: "operators_{{ 'child' }}",
      externalTaskId: "say",
      executionDelta: 0,
      pokeInterval: 1,
    }),
  )()
  .after(child);
const nested = new Dag("operators_child", hidden);
nested.task("say", bash("echo {{ dag_run.conf.from }}"))();

// Every one of them goes on for longer than a test, and says when it has begun.
const long = new Dag("operators_long", hidden);
long.task(
  "script",
  bash(
    `bash -c 'sleep 3600 & echo $! > "$FOLDER/grandchild"; wait' & echo $! > "$FOLDER/child"; echo $$ > "$FOLDER/script"; wait`,
    { env: { FOLDER: "{{ dag_run.conf.folder }}" } },
  ),
)();
long.task("statement", sql({ connectionId: "weather_db", sql: "select pg_sleep(3600) /* of operators_long */" }))();
long.task("request", http({ url: "{{ dag_run.conf.url }}/hangs", timeout: 3600 }))();
long.task(
  "contained",
  container({ image: "IMAGE", command: ["sh", "-c", 'touch "$0"; sleep 3600', "{{ dag_run.conf.folder }}/contained"] }),
)();

const bad = new Dag("operators_bad", { ...hidden, params: { list: [1, 2] } });
bad.task("no_name", bash("echo {{ params.missing }}"))();
bad.task("no_conf", bash("true", { env: { X: "{{ dag_run.conf['x'] }}" } }))();
bad.task("no_variable", bash("echo {{ var.value.nowhere }}"))();
bad.task("no_connection", bash("echo {{ conn.nowhere.host }}"))();
bad.task("no_http_connection", http({ connectionId: "nowhere" }))();
bad.task("no_sql_connection", sql({ connectionId: "nowhere", sql: "select 1" }))();
bad.task("no_value", bash("echo {{ ti.xcom_pull('good').rows }}"))();
bad.task("loops", bash("{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}"))();
bad.task(
  "blows_up",
  bash("{% set ns = namespace(x='xx') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}"),
)();
bad.task("escapes", bash("{{ ''.constructor.constructor('return process')().exit() }}"))();
bad.task("code", bash("echo {{ dag_run.conf.evil }}"))();
bad.task("syntax", bash("echo {{ ds"))();
bad.task("statement", sql({ connectionId: "weather_db", sql: "select nothing from nowhere" }))();
bad.task("no_dag", triggerDagRun({ dagId: "operators_nowhere" }))();
bad.task("good", bash("echo {{ params.list | sum }} {{ ds_nodash }}"))();
bad.task("quiet", empty())();
