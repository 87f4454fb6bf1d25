import { environmentName, OPTIONS, type OptionDefinition } from "@millrace/shared/config";
import { code, heading, table } from "./page.ts";

function defaultOf(option: OptionDefinition): string {
  if (option.type === "list") return option.default.length === 0 ? "empty" : code(option.default.join(","));
  return option.default === "" ? "empty" : code(String(option.default));
}

function kindOf(option: OptionDefinition): string {
  if (option.type !== "integer" && option.type !== "number") {
    return option.type === "string" && option.secret === true
      ? "secret"
      : { boolean: "true or false", list: "list", string: "text" }[option.type];
  }
  const what = option.type === "integer" ? "whole number" : "number";
  return `${what}, ${option.min} to ${option.max}`;
}

export function configPage(): string {
  const sections = Object.entries(OPTIONS as Record<string, Record<string, OptionDefinition>>);
  return [
    heading(
      "Configuration",
      "packages/shared/src/config/options.ts",
      'Each option is read from the environment, else from `millrace.config.json` in the working directory (`{ "section": { "option": value } }`), else it has its default. Every problem is told at start, all at once; the value of a secret is never shown. A list is written with commas in the environment.',
    ),
    ...sections.map(
      ([section, options]) =>
        `## ${section}\n\n` +
        table(
          ["Option", "Environment", "Kind", "Default", "Meaning"],
          Object.entries(options).map(([name, option]) => [
            code(name),
            code(environmentName(section, name)),
            kindOf(option),
            defaultOf(option),
            option.about,
          ]),
        ),
    ),
  ].join("\n");
}
