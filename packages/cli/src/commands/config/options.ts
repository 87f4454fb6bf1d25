import { environmentName, OPTIONS, type Config, type OptionDefinition } from "@millrace/shared/config";

export interface ConfigRow {
  readonly section: string;
  readonly option: string;
  readonly value: unknown;
  readonly isSecret: boolean;
  readonly about: string;
  readonly environment: string;
}

/** Every option with its value; secrets that are set are covered unless they are asked for. */
export function configRows(config: Config, showSecrets: boolean): ConfigRow[] {
  return Object.entries(OPTIONS as Record<string, Record<string, OptionDefinition>>).flatMap(([section, options]) =>
    Object.entries(options).map(([option, definition]) => {
      const value = (config as Record<string, Record<string, unknown>>)[section]?.[option];
      const isSecret = definition.type === "string" && definition.secret === true;
      return {
        section,
        option,
        value: isSecret && !showSecrets && value !== "" ? "***" : value,
        isSecret,
        about: definition.about,
        environment: environmentName(section, option),
      };
    }),
  );
}
