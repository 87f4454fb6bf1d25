export interface TaskError {
  readonly name: string;
  readonly message: string;
  /** As V8 gives it: still to be source-mapped by the reader that has the bundle's map. */
  readonly stack?: string;
}
