import type { DagSpec, TaskSpec } from "@millrace/sdk/spec";
import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";

export const show = (io: Io): Command =>
  newCommand(io, "show", {
    about: "Show a DAG and its tasks.",
    examples: ["dags show hello", "dags show hello --json"],
  })
    .argument("<dag>", "Id of the DAG.")
    .option("--json", "The whole DAG as data.")
    .action(async (dagId: string, options: { readonly json?: boolean }) => {
      const { dag, spec, version, warnings } = await withDatabase(io, async ({ db }) => {
        const { getDag, getDagSpec, listDagWarnings, listVersions } = await import("@millrace/shared/db");
        const dag = await getDag(db, dagId);
        const { items } = await listVersions(db, dagId, { limit: 1 });
        const warnings = await listDagWarnings(db, { dagId });
        return { dag, spec: await getDagSpec(db, dagId), version: items[0]?.versionNumber, warnings: warnings.items };
      });
      if (options.json === true) return io.out(`${JSON.stringify(spec, undefined, 2)}\n`);
      const facts: [string, string | undefined][] = [
        ["description", spec.description],
        ["file", dag.relativeFileloc ?? undefined],
        ["version", version?.toString()],
        ["schedule", dag.timetableSummary ?? undefined],
        ["next run", dag.isPaused ? "paused" : dag.nextDagrunCreateAfter?.toISOString()],
        ["tags", spec.tags.join(", ") || undefined],
      ];
      io.out(`${io.colors.bold(dagId)}\n`);
      for (const [name, value] of facts) {
        if (value !== undefined) io.out(`  ${io.colors.dim(name.padEnd(12))}${value}\n`);
      }
      for (const { message } of warnings) io.out(`\n${io.colors.yellow("warning")} ${message}\n`);
      io.out(`\n${drawTree(io, spec)}`);
    });

/** Each task below what it follows; one that follows several is spelled out once and named again elsewhere. */
export function drawTree(io: Pick<Io, "colors">, spec: Pick<DagSpec, "tasks">): string {
  const seen = new Set<string>();
  const lines: string[] = [];
  const draw = (task: TaskSpec, depth: number) => {
    const again = seen.has(task.taskId);
    seen.add(task.taskId);
    const rule = task.triggerRule === "all_success" ? "" : `, ${task.triggerRule}`;
    const detail = again ? "(see above)" : `${task.operator}${rule}`;
    lines.push(`${"  ".repeat(depth)}${depth === 0 ? "" : "└ "}${task.taskId}  ${io.colors.dim(detail)}`);
    if (again) return;
    for (const next of spec.tasks) if (next.upstream.includes(task.taskId)) draw(next, depth + 1);
  };
  for (const task of spec.tasks) if (task.upstream.length === 0) draw(task, 0);
  return `${lines.join("\n")}\n`;
}
