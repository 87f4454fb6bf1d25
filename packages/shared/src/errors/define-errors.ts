/** What an error means to people and to programs. */
export interface ErrorDefinition {
  /** With `{name}` for each value that the place of the error fills in. */
  readonly message: string;
  readonly httpStatus: number;
  readonly exitCode: number;
  readonly retryable: boolean;
}

export const defineErrors = <const T extends Record<string, ErrorDefinition>>(errors: T): T => errors;
