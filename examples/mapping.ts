// Tasks that become as many as there is work: one instance for each element of a list that is known only when the run
// has come that far.
import { collect, Dag, type LazyList } from "@millrace/sdk";

const dag = new Dag("mapping", { schedule: null, tags: ["example"], description: "Mapped tasks and a mapped group" });

const files = dag.task("list_files", () => ["north.csv", "south.csv", "west.csv"])();

// One instance for each file; `factor` is the same for all of them.
const measure = dag.task(
  "measure",
  ({ file, factor }: { file: string; factor: number }) => ({ file, size: file.length * factor }),
  { mapIndexTemplate: "{{ file }}", maxActiveTisPerDagrun: 2 },
);
const sizes = measure.partial({ factor: 10 }).expand({ file: files });

dag.task("total", ({ all }: { all: { size: number }[] }) => all.reduce((sum, { size }) => sum + size, 0))({
  all: sizes,
});

// The same list through several tasks: each file goes its own way, depth first.
const perFile = dag.taskGroup("per_file", { defaults: { retries: 1, retryDelay: 1 } });
const { file } = perFile.expand({ file: files });
const parsed = perFile.task("parse", ({ name }: { name: string }) => name.toUpperCase())({ name: file });
const loaded = perFile.task("load", ({ text }: { text: string }) => text.length)({ text: parsed });

// Outside of the group a task's value is the list of all of them; a long one is read in pages.
dag.task("report", async ({ rows }: { rows: LazyList<number> }) => {
  let sum = 0;
  for await (const row of rows) sum += row;
  return `${rows.length} files, ${sum} rows`;
})({ rows: collect(loaded).lazy() });
