import { describe, expect, it } from "vitest";
import { Dag, getContext, SkipTask } from "../index.ts";
import { bash } from "../operators/index.ts";
import { FakeHost, runRequest } from "./fake-host.ts";
import { artifact } from "./index.ts";
import type { RunRequest, TaskOutcome } from "./protocol.ts";

let count = 0;

interface Labelled {
  readonly outcome: TaskOutcome;
  readonly labels: readonly string[];
  readonly lines: readonly string[];
}

/** Runs instance 2 of a mapped task. */
async function labelled(
  mapIndexTemplate: string,
  handler: (inputs: { file: string }) => unknown,
  changes: Partial<RunRequest> = {},
  declare?: (dag: Dag) => void,
): Promise<Labelled> {
  const dag = new Dag(`label_${++count}`);
  if (declare === undefined)
    dag.task("only", handler as (inputs: { file: string }) => null, { mapIndexTemplate }).expand({ file: ["a"] });
  else declare(dag);
  const labels: string[] = [];
  const host = Object.assign(new FakeHost(), {
    setMapIndexLabel: (label: string) => {
      labels.push(label);
      return Promise.resolve();
    },
  });
  const request = runRequest(dag.dagId, "only", { mapIndex: 2, inputs: { file: "a.csv" }, ...changes });
  const outcome = await artifact.run(request, host);
  return { outcome, labels, lines: host.lines.map(({ message }) => message) };
}

const nothing = () => null;

describe("the label of a mapped instance", () => {
  it.each([
    ["{{ inputs.file }} of {{ ds }}", "a.csv of 2026-01-01"],
    ["{{ file | upper }}", "A.CSV"],
    ["{{ task.task_id }} {{ ti.map_index }}{% if params.x is defined %}!{% endif %}", "only 2"],
    ["fixed", "fixed"],
  ])("is a template like any other: %s", async (template, label) => {
    expect((await labelled(template, nothing)).labels).toEqual([label]);
  });

  it("is made again of what the handler gave a name to, and of what it returned", async () => {
    const handler = ({ file }: { file: string }) => {
      getContext().names["city"] = `Oslo, ${file}`;
      getContext().names["ds"] = new Date("2026-05-01T00:00:00Z");
      return { rows: 7 };
    };
    const { labels, lines } = await labelled("{{ city }} {{ ds | ds }} {{ result.rows }}", handler);
    expect([labels, lines]).toEqual([["Oslo, a.csv 2026-05-01 7"], []]);
    expect((await labelled("{{ city | default('to come') }}", handler)).labels).toEqual(["to come", "Oslo, a.csv"]);
  });

  it("is told once when nothing about it changes, and not at all when nothing is left of it", async () => {
    expect((await labelled("{{ file }}", nothing)).labels).toEqual(["a.csv"]);
    expect((await labelled("{{ '' }}", nothing)).labels).toEqual([]);
  });

  it("knows the options of an operator", async () => {
    const { labels } = await labelled("", nothing, {}, (dag) => {
      const task = dag.task("only", bash("echo {{ inputs.file }}"), { mapIndexTemplate: "$ {{ task.command }}" });
      (task.expand as (lists: object) => unknown)({ file: ["a"] });
    });
    expect(labels).toEqual(["$ echo a.csv"]);
  });

  it("that cannot be made leaves the outcome alone, and the log says what is shown instead", async () => {
    const { outcome, labels, lines } = await labelled("{{ nowhere }}", () => 1);
    expect([outcome, labels]).toEqual([{ kind: "success", returnValue: 1 }, []]);
    expect(lines).toEqual([
      expect.stringMatching(/^this instance is shown by its index, 2: .*"nowhere" is not defined/),
    ]);
    const spoiled = await labelled("{{ city | default('Oslo') }}", () => {
      getContext().names["city"] = () => 1;
    });
    expect([spoiled.outcome.kind, spoiled.labels]).toEqual(["success", ["Oslo"]]);
    expect(spoiled.lines).toEqual([expect.stringContaining('is shown by "Oslo" as before')]);
    expect((await labelled("{{ broken", nothing)).lines).toHaveLength(1);
  });

  it("of one that failed or was skipped is as far as it came, without a word", async () => {
    const failing = (thrown: Error) => () => {
      getContext().names["city"] = "Oslo";
      throw thrown;
    };
    const failed = await labelled("{{ city }}", failing(new Error("no")));
    expect([failed.outcome.kind, failed.labels, failed.lines]).toEqual(["failed", ["Oslo"], []]);
    const skipped = await labelled("{{ city }} {{ result }}", failing(new SkipTask("no")));
    expect([skipped.outcome.kind, skipped.labels, skipped.lines]).toEqual(["skipped", [], []]);
  });

  it("is nothing for a task that is not mapped", async () => {
    expect((await labelled("{{ file }}", nothing, { mapIndex: -1 })).labels).toEqual([]);
  });
});
