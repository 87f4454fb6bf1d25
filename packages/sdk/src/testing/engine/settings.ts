/** What the configuration of an installation says; times in seconds. */
export interface EngineSettings {
  readonly parallelism: number;
  readonly maxTaskRetryDelay: number;
  readonly maxTasksPerPass: number;
  readonly maxRunsPerPass: number;
  readonly sweepInterval: number;
  /** An attempt silent for longer has lost its worker. */
  readonly lease: number;
}

/** The defaults of the product. */
export const DEFAULT_SETTINGS: EngineSettings = {
  parallelism: 32,
  maxTaskRetryDelay: 86_400,
  maxTasksPerPass: 512,
  maxRunsPerPass: 200,
  sweepInterval: 5,
  lease: 30,
};
export const DEFAULT_MAX_ACTIVE_RUNS = 16;
export const DEFAULT_MAX_ACTIVE_TASKS = 16;
export const DEFAULT_POOL_SLOTS = 128;
