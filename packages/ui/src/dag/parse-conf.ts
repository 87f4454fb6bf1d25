export type ParsedConf = { readonly conf: Readonly<Record<string, unknown>> } | { readonly problem: string };

/** The conf of a run, as typed: nothing, or a JSON object. */
export function parseConf(text: string): ParsedConf {
  if (text.trim() === "") return { conf: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { conf: value as Record<string, unknown> };
    }
    return { problem: 'The conf must be an object, such as {"day": "2026-01-01"}.' };
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}
