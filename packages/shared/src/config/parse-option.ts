import type { OptionDefinition } from "./options.ts";

type Parsed = { readonly value: unknown } | { readonly problem: string };

/** Reads one value as given: text from the environment, or JSON from a file. */
export function parseOption(option: OptionDefinition, given: unknown): Parsed {
  switch (option.type) {
    case "integer":
    case "number": {
      const value =
        typeof given === "number" ? given : typeof given === "string" && given.trim() !== "" ? Number(given) : NaN;
      if (!Number.isFinite(value)) return { problem: "must be a number" };
      if (option.type === "integer" && !Number.isInteger(value)) return { problem: "must be a whole number" };
      if (value < option.min || value > option.max) return { problem: `must be from ${option.min} to ${option.max}` };
      return { value };
    }
    case "boolean": {
      const word = String(given).toLowerCase();
      if (["true", "t", "1", "yes", "on"].includes(word)) return { value: true };
      if (["false", "f", "0", "no", "off"].includes(word)) return { value: false };
      return { problem: "must be true or false" };
    }
    case "list":
      if (typeof given === "string") {
        return {
          value: given
            .split(",")
            .map((item) => item.trim())
            .filter((item) => item !== ""),
        };
      }
      if (Array.isArray(given) && given.every((item) => typeof item === "string")) return { value: given };
      return { problem: "must be a list of strings" };
    case "string":
      return typeof given === "string" ? { value: given } : { problem: "must be a string" };
  }
}
