/** Every long-lived object. Both calls are idempotent; `stop` resolves when nothing of it is left. */
export interface Service {
  start(): Promise<void>;
  stop(): Promise<void>;
}
