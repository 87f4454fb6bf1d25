// The names that Airflow gives to a template. What a run without a logical date has no value for is not defined, as are
// the names that Airflow 3 took away; the error says what to write instead.
import type { ConnectionValue } from "../runtime/protocol.ts";
import type { RunScope } from "../runtime/run-scope.ts";
import type { Json } from "../spec/index.ts";
import { bind, needText } from "./arguments.ts";
import { triggeringEvents } from "./asset-names.ts";
import { dsOf, tsNodashOf, tsNodashWithTzOf, tsOf } from "./date-forms.ts";
import { DateValue } from "./date-value.ts";
import { fromData } from "./from-data.ts";
import type { Lookups } from "./lookups.ts";
import { MACROS } from "./macros.ts";
import { Callable, fromJson, isList, Names, parseJson, Thing, Undefined, type Value } from "./values.ts";

const WITH_LOGICAL_DATE = new Set([
  "logical_date",
  "ds",
  "ds_nodash",
  "ts",
  "ts_nodash",
  "ts_nodash_with_tz",
  "data_interval_start",
  "data_interval_end",
  "prev_data_interval_start_success",
  "prev_data_interval_end_success",
]);

const GONE: Readonly<Record<string, string>> = {
  execution_date: "logical_date",
  next_execution_date: "data_interval_end",
  prev_execution_date: "prev_data_interval_start_success",
  next_ds: "data_interval_end | ds",
  next_ds_nodash: "data_interval_end | ds_nodash",
  prev_ds: "macros.ds_add(ds, -1)",
  yesterday_ds: "macros.ds_add(ds, -1)",
  yesterday_ds_nodash: 'macros.ds_add(ds, -1) | replace("-", "")',
  tomorrow_ds: "macros.ds_add(ds, 1)",
  tomorrow_ds_nodash: 'macros.ds_add(ds, 1) | replace("-", "")',
  conf: "dag_run.conf",
};

export interface AirflowNames {
  readonly get: (name: string) => Value | undefined;
  readonly whyMissing: (name: string) => string;
}

/** @param inputs of the task, which Airflow has no name for: `inputs` */
export function airflowNames(scope: RunScope, inputs: Readonly<Record<string, Json>>, lookups: Lookups): AirflowNames {
  const { context } = scope;
  const made = new Map<string, Value | undefined>();
  const make = (name: string): Value | undefined => {
    const { logicalDate } = context;
    switch (name) {
      case "ds":
        return logicalDate === null ? undefined : dsOf(logicalDate);
      case "ds_nodash":
        return logicalDate === null ? undefined : dsOf(logicalDate).replaceAll("-", "");
      case "ts":
        return logicalDate === null ? undefined : tsOf(logicalDate);
      case "ts_nodash":
        return logicalDate === null ? undefined : tsNodashOf(logicalDate);
      case "ts_nodash_with_tz":
        return logicalDate === null ? undefined : tsNodashWithTzOf(logicalDate);
      case "logical_date":
        return dateValue(logicalDate);
      case "data_interval_start":
        return dateValue(context.dataIntervalStart);
      case "data_interval_end":
        return dateValue(context.dataIntervalEnd);
      case "prev_data_interval_start_success":
        return logicalDate === null ? undefined : previous(scope, lookups, "dataIntervalStart");
      case "prev_data_interval_end_success":
        return logicalDate === null ? undefined : previous(scope, lookups, "dataIntervalEnd");
      case "prev_start_date_success":
        return previous(scope, lookups, "startDate");
      case "prev_end_date_success":
        return previous(scope, lookups, "endDate");
      case "run_id":
        return context.runId;
      case "params":
        return fromJson(context.params);
      case "inputs":
        return fromData(inputs);
      case "dag":
        return dagNames(scope);
      case "task":
        return taskNames(scope);
      case "dag_run":
        return runNames(scope);
      case "ti":
      case "task_instance":
        return instanceNames(scope, lookups);
      case "task_instance_key_str": {
        const when = logicalDate === null ? context.runId : dsOf(logicalDate).replaceAll("-", "");
        return `${context.dagId}__${context.taskId}__${when}`;
      }
      case "try_number":
        return context.tryNumber;
      case "map_index":
        return context.mapIndex;
      case "task_reschedule_count":
        return scope.waited?.reschedules ?? 0;
      case "triggering_asset_events":
        return triggeringEvents(scope);
      case "test_mode":
        return false;
      case "var":
        return new Names("var", { value: variables(scope, lookups, false), json: variables(scope, lookups, true) });
      case "conn":
        return connections(scope, lookups);
      case "macros":
        return MACROS;
      default:
        return undefined;
    }
  };
  return {
    get: (name) => {
      if (!made.has(name)) made.set(name, make(name));
      return made.get(name);
    },
    whyMissing: (name) => {
      if (WITH_LOGICAL_DATE.has(name)) return "this run has no logical date; run_id and dag_run.run_after are there";
      return Object.hasOwn(GONE, name) ? `Airflow 3 has no such name: write {{ ${GONE[name] ?? ""} }}` : "";
    },
  };
}

const dateValue = (at: Date | null): Value | undefined => (at === null ? undefined : new DateValue(at));
const dateOrNone = (at: Date | null): Value => (at === null ? null : new DateValue(at));

/** The newest run before this one that succeeded; None when there is none. */
function previous(
  { host }: RunScope,
  lookups: Lookups,
  which: "dataIntervalStart" | "dataIntervalEnd" | "startDate" | "endDate",
): Value {
  return lookups.get(`previous ${which}`, which, "", async () => {
    const found = await host.getPreviousSuccess?.();
    const at = found?.[which];
    return at === undefined || at === null ? null : new DateValue(new Date(at));
  });
}

function dagNames({ context, dag }: RunScope): Names {
  return new Names("dag", {
    dag_id: context.dagId,
    description: dag?.description ?? null,
    tags: dag === undefined ? [] : [...dag.tags],
  });
}

const taskNames = (scope: RunScope): Names => new Names("task", taskMembers(scope));

export function taskMembers({ context, taskSpec }: RunScope): Readonly<Record<string, Value>> {
  return {
    task_id: context.taskId,
    dag_id: context.dagId,
    owner: taskSpec?.owner ?? null,
    retries: taskSpec?.retries ?? 0,
    queue: taskSpec?.queue ?? null,
    pool: taskSpec?.pool ?? null,
  };
}

function runNames({ context }: RunScope): Names {
  return new Names("dag_run", {
    dag_id: context.dagId,
    run_id: context.runId,
    run_type: context.runType,
    run_after: new DateValue(context.runAfter),
    logical_date: dateOrNone(context.logicalDate),
    data_interval_start: dateOrNone(context.dataIntervalStart),
    data_interval_end: dateOrNone(context.dataIntervalEnd),
    conf: fromJson(context.conf),
  });
}

function instanceNames(scope: RunScope, lookups: Lookups): Names {
  const { context } = scope;
  return new Names("ti", {
    dag_id: context.dagId,
    task_id: context.taskId,
    run_id: context.runId,
    map_index: context.mapIndex,
    try_number: context.tryNumber,
    max_tries: context.maxTries,
    xcom_pull: new Callable("xcom_pull", (args, keywords) => {
      const names = ["task_ids", "dag_id", "key", "include_prior_dates", "map_indexes", "default", "run_id"];
      const bound = bind("xcom_pull", names, args, keywords);
      const [taskIds = context.taskId, dagId, key, , mapIndex, otherwise = null, runId] = bound;
      const pull = (taskId: Value): Value => {
        const query = {
          taskId: needText("task_ids", taskId),
          dagId: dagId === undefined || dagId === null ? context.dagId : needText("dag_id", dagId),
          runId: runId === undefined || runId === null ? context.runId : needText("run_id", runId),
          key: key === undefined || key === null ? "return_value" : needText("key", key),
          ...(typeof mapIndex === "number" ? { mapIndex } : {}),
        };
        return lookups.get(`xcom ${JSON.stringify(query)}`, "xcom", "", async () => {
          const found = await scope.client.getXCom(query);
          return found === undefined ? otherwise : fromData(found);
        });
      };
      return isList(taskIds) ? taskIds.map(pull) : pull(taskIds ?? context.taskId);
    }),
  });
}

/** `x.name`, `x["name"]`, and `x.get("name", otherwise)` for names that are no identifiers. */
class ByKey extends Thing {
  readonly #title: string;
  readonly #find: (key: string) => Value;

  constructor(title: string, find: (key: string) => Value) {
    super();
    this.#title = title;
    this.#find = find;
  }

  override member(name: string): Value {
    if (name !== "get") return this.#find(name);
    return new Callable("get", (args, keywords) => {
      const [key, otherwise] = bind("get", ["key", "default"], args, keywords);
      const found = this.#find(needText("the key", key));
      return found instanceof Undefined && otherwise !== undefined ? otherwise : found;
    });
  }

  override text(): string {
    return `<${this.#title}>`;
  }
}

function variables({ client }: RunScope, lookups: Lookups, asJson: boolean): ByKey {
  const title = asJson ? "var.json" : "var.value";
  return new ByKey(title, (key) =>
    lookups.get(`${title} ${key}`, `${title}.${key}`, "there is no such variable", async () => {
      const text = await client.getVariable(key);
      return text === undefined || !asJson ? text : parseJson(text, `${title}.${key}`);
    }),
  );
}

function connections({ client }: RunScope, lookups: Lookups): ByKey {
  return new ByKey("conn", (id) =>
    lookups.get(`conn ${id}`, `conn.${id}`, "there is no such connection", async () => {
      const found = await client.getConnection(id);
      return found === undefined ? undefined : connectionNames(found);
    }),
  );
}

function connectionNames(connection: ConnectionValue): Names {
  const { connectionId, connType, host = null, login = null, password = null, schema = null, port = null } = connection;
  const extra = connection.extra ?? {};
  return new Names("conn", {
    ...{ conn_id: connectionId, conn_type: connType, host, login, password, schema, port },
    extra: JSON.stringify(extra),
    extra_dejson: fromJson(extra),
  });
}
