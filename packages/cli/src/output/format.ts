// Lists in the four forms of -o. Table and plain are for people, json and yaml for programs: stable keys, every column,
// instants in ISO 8601, null for what is not there.
import { Option, type Command } from "commander";
import type { Io, Mask } from "../io/io.ts";
import { paintState } from "./paint-state.ts";

export const FORMATS = ["table", "json", "yaml", "plain"] as const;
export type Format = (typeof FORMATS)[number];

export interface OutputOption {
  readonly output: Format;
}

export interface Column<R> {
  /** The key in json and yaml, and with spaces the title for people. */
  readonly key: string;
  readonly value: (row: R) => unknown;
  /** `programs`: too long for people, so only in json and yaml. */
  readonly for?: "programs";
  /** What people see instead of the value. */
  readonly shown?: (row: R) => string;
}

export const addOutputOption = (command: Command): Command =>
  command.addOption(new Option("-o, --output <format>", "How to print it.").choices(FORMATS).default("table"));

export async function printList<R>(
  io: Io,
  format: Format,
  columns: readonly Column<R>[],
  rows: readonly R[],
): Promise<void> {
  const mask = io.mask ?? ((value: unknown) => value);
  if (format === "json") return io.out(`${JSON.stringify(asObjects(columns, rows, mask), undefined, 2)}\n`);
  if (format === "yaml") return io.out(asYaml(asObjects(columns, rows, mask)));
  const shown = columns.filter((column) => column.for !== "programs");
  const titles = shown.map((column) => column.key.replaceAll("_", " "));
  const cells = rows.map((row) => shown.map((column) => cellText(mask(column.shown?.(row) ?? column.value(row)))));
  if (format === "plain") return io.out(asPlain([shown.map((column) => column.key), ...cells]));
  if (rows.length === 0) return io.note("nothing to list");
  const { drawTable } = await import("./table.ts");
  const painted = cells.map((row) =>
    row.map((cell, i) => (titles[i]?.endsWith("state") === true ? paintState(io, cell) : cell)),
  );
  io.out(drawTable(io, titles, painted));
}

const asObjects = <R>(columns: readonly Column<R>[], rows: readonly R[], mask: Mask): Record<string, unknown>[] =>
  rows.map((row) => Object.fromEntries(columns.map((column) => [column.key, mask(column.value(row) ?? null)])));

/** Each item a block whose values are JSON, which YAML holds. */
function asYaml(items: readonly Record<string, unknown>[]): string {
  if (items.length === 0) return "[]\n";
  return items
    .map((item) => {
      const lines = Object.entries(item).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
      return `- ${lines.join("\n  ")}\n`;
    })
    .join("");
}

function asPlain(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return "-";
  if (value instanceof Date) return value.toISOString().replace(/\.\d+Z$/, "Z");
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.map(cellText).join(", ");
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}
