import { OPTIONS, type Config, type OptionDefinition } from "../config/options.ts";
import { readKeys } from "./cipher.ts";
import { Redactor } from "./redactor.ts";

/** Hides what the configuration keeps secret: passwords, keys, and the credentials in addresses. */
export function configRedactor(config: Config): Redactor {
  const redactor = Redactor.of(config);
  for (const [section, options] of Object.entries(OPTIONS)) {
    for (const [name, option] of Object.entries(options as Record<string, OptionDefinition>)) {
      if (option.type !== "string" || option.secret !== true) continue;
      const value = (config as unknown as Record<string, Record<string, unknown>>)[section]?.[name]; // as OPTIONS says
      if (typeof value !== "string" || value === "") continue;
      for (const part of partsOf(value)) redactor.add(part);
    }
  }
  return redactor;
}

function partsOf(value: string): readonly string[] {
  const password = URL.canParse(value) ? new URL(value).password : "";
  if (password !== "") return [value, password, decodeURIComponent(password)];
  // An address without a password is no secret.
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? [] : [value, ...readKeys(value)];
}
