// What the compiler has to accept and to refuse in a DAG file. Compiled by tsc, never run: a line marked
// `@ts-expect-error` that compiles is an error itself.
import { collect, Dag, zip, type Json, type LazyList, type TaskRef } from "../index.ts";
import { bash, branch, empty, shortCircuit } from "../operators/index.ts";

interface RegionRows {
  readonly region: string;
  readonly rows: number;
}
interface Tree {
  readonly value: number;
  readonly children: readonly Tree[];
}

const dag = new Dag("types", { schedule: "@daily", tags: ["a"], params: { day: 1, who: { default: "me" } } });
// @ts-expect-error an option that does not exist
new Dag("types", { shedule: "@daily" });
// @ts-expect-error a start date is a Date
new Dag("types", { startDate: "2026-01-01" });

const north = dag.task("north", async (): Promise<RegionRows> => ({ region: "n", rows: 1 }));
const sum = dag.task("sum", async ({ a, region }: { a: { rows: number }; region?: string }) => ({
  total: a.rows,
  region,
}));

export const ref: TaskRef<RegionRows> = north();
sum({ a: ref });
sum({ a: ref, region: "eu" });
sum({ a: ref, region: ref.get("region") });
sum({ a: { rows: 3 } });
// @ts-expect-error a required input is missing
sum({});
// @ts-expect-error a required input is missing
sum();
// @ts-expect-error the upstream value has another type
sum({ a: ref.get("region") });
// @ts-expect-error a literal of another type
sum({ a: 3 });
// @ts-expect-error an input that the handler does not take
sum({ a: ref, other: 1 });
// @ts-expect-error the handler takes no input
north({ a: 1 });
// @ts-expect-error a field that the value does not have
ref.get("nope");
// @ts-expect-error a factory is not a reference
sum({ a: north });

export const rows: number[] = [];
const list = dag.task("list", () => [{ id: 1 }]);
export const id = dag.task("one", ({ id: given }: { id: number }) => given)({ id: list().get(0).get("id") });

// Trigger rules: what may be missing has to be expected.
const strict = dag.task("strict", ({ a }: { a: RegionRows }) => a.rows, { triggerRule: "all_done" });
// @ts-expect-error with all_done the upstream value can be missing
strict({ a: ref });
strict({ a: { region: "n", rows: 1 } });
dag.task("open", ({ a }: { a: RegionRows | undefined }) => a?.rows ?? 0, { triggerRule: "all_done" })({ a: ref });
dag.task("optional", ({ a }: { a?: RegionRows }) => a?.rows ?? 0, { triggerRule: "one_success" })({ a: ref });
dag.task("plain", ({ a }: { a: RegionRows }) => a.rows, { triggerRule: "all_success", retries: 2 })({ a: ref });
// @ts-expect-error a trigger rule that does not exist
dag.task("rule", () => 1, { triggerRule: "all_sucess" });
// @ts-expect-error an option that does not exist
dag.task("option", () => 1, { retires: 1 });

// Return values have to survive being stored.
dag.task("nothing", () => {});
dag.task("undefined", async () => undefined);
dag.task("interface", (): RegionRows => ({ region: "", rows: 0 }));
dag.task("recursive", (): Tree => ({ value: 1, children: [] }));
dag.task("json", async (): Promise<Json> => null);
dag.task("unknown", async (): Promise<unknown> => JSON.parse("1"));
dag.task("optional_field", (): { a?: string } => ({}));
dag.task("tuple", (): readonly [string, number] => ["a", 1]);
dag.task(async function named() {
  return 1;
});
dag.task("date", () => new Date());
dag.task("deep", async () => ({ rows: [{ at: new Date() }] }));
dag.task("bigint", () => 1n);
dag.task("map", () => new Map<string, Set<Date>>());
dag.task("bytes", () => Buffer.from(""));
dag.task("hole", (): (number | undefined)[] => []);
const when = dag.task("when", () => ({ at: new Date() }))();
dag.task("later", ({ at }: { at: Date }) => at.getTime())({ at: when.get("at") });
// @ts-expect-error a Date comes back as one
dag.task("wrong", ({ at }: { at: string }) => at)({ at: when.get("at") });
// @ts-expect-error a regular expression cannot be stored
dag.task("pattern", () => /x/);
// @ts-expect-error nor a map of functions
dag.task("functions", () => new Map<string, () => void>());
// @ts-expect-error a function cannot be stored
dag.task("function", () => ({ f: () => 1 }));
// @ts-expect-error the same without an id
dag.task(function patterned() {
  return /x/;
});

// Branches.
const isOpen = dag.task("is_open", async () => true)();
dag.if(isOpen).then(ref).else(id);
// @ts-expect-error a condition returns a boolean
dag.if(ref);
// @ts-expect-error there is one then
dag.if(isOpen).then(ref).then(id);
dag.if(list().get(0).get("id") as never);
const never = dag.task("never", (): never => {
  throw new Error("always");
});
dag.if(never()).then(ref);
const decider = dag.task("decider", async () => (Math.random() > 1 ? ref : id))();
dag.switch(decider).case(ref).case(id);
export const chosen: TaskRef<string> = decider;

// Operators.
dag.task("start", empty())();
dag.task(
  "pick",
  branch(({ a }: { a: number }) => (a > 1 ? ref : "one")),
)({ a: id });
// @ts-expect-error the operator's input is missing
dag.task(
  "pick",
  branch(({ a }: { a: number }) => (a > 1 ? ref : "one")),
)();
dag.task(
  "gate",
  shortCircuit(({ a }: { a: number }) => a > 1),
)({ a: 3 });
const script = dag.task("script", bash("echo $WHO", { env: (_context, { who }: { who: string }) => ({ WHO: who }) }));
export const line: TaskRef<string> = script({ who: ref.get("region") });
// @ts-expect-error the script's env needs a string
script({ who: id });
bash("echo $N", { env: { N: ref.get("rows"), WHO: ref.get("region"), DAY: "{{ ds }}", ANY: 1 } });
// @ts-expect-error an environment variable is no object
bash("echo $N", { env: { N: ref } });
// @ts-expect-error a command is a text
bash(ref.get("rows"));
// @ts-expect-error teardown and setup take tasks
ref.asTeardown({ setups: dag.taskGroup("g") });

// Mapping.
const texts = dag.task("texts", () => ["a", "b"])();
const pick = dag.task("map_pick", ({ text, times, note }: { text: string; times: number; note?: string }) => ({
  text,
  times,
  note: note ?? "",
}));
export const picked: TaskRef<{ text: string; times: number; note: string }[]> = pick
  .partial({ times: 2 })
  .expand({ text: texts });
pick.expand({ text: texts, times: [1, 2] });
pick.expand({ text: texts, times: [1, 2], note: ["x"] });
pick.expandKwargs([{ text: "a", times: 1 }]);
// @ts-expect-error a required input has no list
pick.expand({ text: texts });
// @ts-expect-error a list of another type
pick.partial({ times: 2 }).expand({ text: [1] });
// @ts-expect-error an input that the handler does not take
pick.partial({ other: 2 });
// @ts-expect-error no list
pick.partial({ times: 2 }).expand({ text: "a" });
// @ts-expect-error an object without a required input
pick.expandKwargs([{ text: "a" }]);
dag.task("map_pair", ({ pair }: { pair: [string, number] }) => pair.length).expand({ pair: zip(texts, [1, 2]) });
dag.task(
  "map_lazy",
  async ({ all }: { all: LazyList<{ text: string }> }) => all.length,
)({
  all: pick.partial({ times: 1 }).expand({ text: texts }).lazy(),
});
const perText = dag.taskGroup("per_text");
const { text: one } = perText.expand({ text: texts });
const upper = perText.task("upper", ({ value }: { value: string }) => value.toUpperCase())({ value: one });
dag.task("map_all", ({ all }: { all: string[] }) => all.length)({ all: collect(upper) });
// @ts-expect-error outside of the group it is a list
dag.task("map_no_list", ({ all }: { all: string[] }) => all.length)({ all: upper });
// A list is there whatever became of the tasks that it is made of; one value may be missing.
dag.task("map_any", ({ all }: { all: string[] }) => all.length, { triggerRule: "all_done" })({ all: collect(upper) });
dag.task("map_any_lazy", ({ all }: { all: LazyList<string> }) => all.length, { triggerRule: "all_done" })({
  all: collect(upper).lazy(),
});
// @ts-expect-error a mapped list of something else
dag.task("map_wrong", ({ all }: { all: number[] }) => all.length, { triggerRule: "all_done" })({ all: collect(upper) });
