import Table from "cli-table3";
import type { Io } from "../io/io.ts";

// One line under the titles is all the drawing a table needs.
const CHARS = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
} as const;

export function drawTable(io: Io, titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = new Table({
    head: titles.map((title) => io.colors.bold(title)),
    chars: CHARS,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  });
  table.push(...rows.map((row) => [...row]));
  const lines = table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd());
  return `${lines.join("\n")}\n`;
}
