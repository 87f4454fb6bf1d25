import { ERRORS, type ErrorDefinition } from "@millrace/shared/errors";
import { code, heading, table } from "./page.ts";

export function errorsPage(): string {
  const errors: readonly [string, ErrorDefinition][] = Object.entries(ERRORS);
  return [
    heading(
      "Errors",
      "packages/shared/src/errors",
      "The code is stable and is what programs should look at; the sentence may improve. `{name}` stands for a value of the place where the error happened. *Again* says whether the same request can succeed later.",
    ),
    table(
      ["Code", "Message", "HTTP", "Exit", "Again"],
      errors
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, error]) => [
          code(name),
          error.message,
          String(error.httpStatus),
          String(error.exitCode),
          error.retryable ? "yes" : "no",
        ]),
    ),
  ].join("\n");
}
