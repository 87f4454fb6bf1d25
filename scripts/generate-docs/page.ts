// The pieces that generated pages are made of.

/** The first lines of a page, so that nobody edits it by hand. */
export const heading = (title: string, from: string, about: string): string =>
  `# ${title}\n\n<!-- Written by \`npm run docs\` from ${from}: edit that. -->\n\n${about}\n`;

/** Pipes and line breaks would end a cell. */
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", "<br>");

export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |\n`;
  return line(columns) + line(columns.map(() => "---")) + rows.map(line).join("");
}

export const code = (text: string): string => `\`${text}\``;
