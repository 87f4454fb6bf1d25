/** A DAG file with everything that it imports, as one ES module that runs anywhere. */
export interface DagBundle {
  readonly code: string;
  /** JSON of the source map; its sources are relative to the folder of the DAG file. */
  readonly sourceMap: string;
  /** sha256 of the code, in hex. The same file in another folder has the same hash. */
  readonly hash: string;
  /** Absolute paths of every file that went into it, the SDK's own left out. */
  readonly inputs: readonly string[];
  /** Text of the DAG file. */
  readonly source: string;
  readonly warnings: readonly FileProblem[];
}

export interface FailedBundle {
  readonly problems: readonly FileProblem[];
  /** The files known to be part of it. */
  readonly inputs: readonly string[];
}

export interface FileProblem {
  readonly message: string;
  /** Relative to the folder of the DAG file. */
  readonly file?: string;
  /** From 1, as the column. */
  readonly line?: number;
  readonly column?: number;
  /** The line itself, as the file has it. */
  readonly text?: string;
}

/** `hello.ts:3:5: message`, and below it the line with a mark under the column. */
export function formatProblem(problem: FileProblem): string {
  const { message, file, line, column, text } = problem;
  if (file === undefined) return message;
  const head = `${[file, line, column].filter((part) => part !== undefined).join(":")}: ${message}`;
  if (text === undefined || text.trim() === "" || text.length > 200 || column === undefined) return head;
  return `${head}\n    ${text}\n    ${text.slice(0, column - 1).replace(/\S/g, " ")}^`;
}
