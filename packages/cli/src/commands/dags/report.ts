import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";

interface FileRow {
  readonly file: string;
  readonly duration: number | null;
  readonly dags: readonly string[];
  readonly tasks: number;
}

const COLUMNS: readonly Column<FileRow>[] = [
  { key: "file", value: (row) => row.file },
  {
    key: "duration",
    value: (row) => row.duration,
    shown: (row) => (row.duration === null ? "-" : `${(row.duration * 1000).toFixed(0)} ms`),
  },
  { key: "dag_num", value: (row) => row.dags.length },
  { key: "task_num", value: (row) => row.tasks },
  { key: "dags", value: (row) => row.dags },
];

const SQL = `
select d.relative_fileloc as file, max(d.last_parse_duration) as duration, array_agg(d.dag_id order by d.dag_id) as dags,
  coalesce(sum(s.tasks), 0)::int as tasks
from dag d
left join lateral (
  select jsonb_array_length(s.data -> 'tasks') as tasks from dag_version v join serialized_dag s on s.dag_version_id = v.id
  where v.dag_id = d.dag_id order by v.version_number desc limit 1) s on true
where not d.is_stale
group by 1 order by 2 desc nulls last, 1`;

export const report = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "report", {
      about: "Show how long each DAG file took to read, slowest first.",
      examples: ["dags report"],
    }),
  ).action(async (options: OutputOption) => {
    const rows = await withDatabase(io, async ({ db }) => await db.read<FileRow>(SQL));
    await printList(io, options.output, COLUMNS, rows);
  });
