export interface StartedService {
  readonly url: string;
  /** Where it comes from, for the one line that is printed. */
  readonly from: "environment" | "container" | "embedded" | "PATH" | "distribution package";
  stop(): Promise<void>;
}

export interface ServiceOptions {
  /** A folder of this run for data and logs. */
  readonly dir: string;
  /** Whether what was acknowledged survives a crash of the machine (bench, chaos). Off makes tests faster. */
  readonly durable: boolean;
  readonly say: (line: string) => void;
}

/** A server of the environment is used as it is and left running. */
export function fromEnvironment(variable: "DATABASE_URL" | "REDIS_URL"): StartedService | undefined {
  const url = process.env[variable];
  if (url === undefined || url === "") return undefined;
  return { url, from: "environment", stop: () => Promise.resolve() };
}
