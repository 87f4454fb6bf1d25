// Mapped tasks whose lists, and what becomes of each element, are told by a file in the folder that the run is given: a
// test writes it, and writes another one between a run and its clear.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { join } from "node:path";
import { collect, Dag, getContext } from "@millrace/sdk";

const inFolder = (name: string): string => join(String(getContext().conf["folder"]), name);
/** Waits for a file that the test, or another instance, writes. */
async function seen(name: string): Promise<void> {
  const { signal } = getContext();
  while (!existsSync(inFolder(name))) await pause(20, undefined, { signal });
}
const items = (): unknown => JSON.parse(readFileSync(inFolder("items.json"), "utf8"));

const list = new Dag("mapping_list", { isPausedUponCreation: false, maxActiveRuns: 20 });
const given = list.task("given", () => items() as string[])();
const each = list.task(
  "each",
  ({ item }: { item: string }) => {
    if (item === "flaky" && getContext().tryNumber === 1) throw new Error("the first try fails");
    if (item === "bad") throw new Error("it is bad");
    return item.toUpperCase();
  },
  { retries: 1, retryDelay: 0, mapIndexTemplate: "{{ item }}" },
);
const done = each.expand({ item: given });
list.task("total", ({ all }: { all: string[] }) => all.join(), { triggerRule: "none_failed" })({ all: done });
list.task("beside", () => "beside")();

const group = new Dag("mapping_group", { isPausedUponCreation: false });
const names = group.task("names", () => items() as string[])();
const perItem = group.taskGroup("per_item");
const { item } = perItem.expand({ item: names });
const first = perItem.task("first", async ({ name }: { name: string }) => {
  if (name === "slow") await seen("second-of-others");
  if (name === "bad") throw new Error("it is bad");
  return name;
})({ name: item });
const second = perItem.task("second", ({ name }: { name: string }) => {
  writeFileSync(inFolder("second-of-others"), "");
  return `${name} ${getContext().mapIndex}`;
})({ name: first });
const cleanup = perItem.task("cleanup", () => undefined, { triggerRule: "all_done" })();
cleanup.after(second);
group.task("after", ({ all }: { all: string[] }) => all, { triggerRule: "all_done" })({ all: collect(second) });

const long = new Dag("mapping_long", { isPausedUponCreation: false });
const held = long.task(
  "held",
  async ({ n }: { n: number }) => {
    writeFileSync(inFolder(`began-${n}`), "");
    await seen("go");
    return n;
  },
  { retries: 1, retryDelay: 0 },
);
const numbers = long.task("numbers", () => items() as number[])();
long.task("sum", ({ all }: { all: number[] }) => all.reduce((sum, n) => sum + n, 0))({
  all: held.expand({ n: numbers }),
});
