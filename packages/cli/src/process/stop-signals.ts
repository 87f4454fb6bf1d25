// SIGTERM and SIGINT: the first asks to stop, the second ends the process at once.

export interface StopSignals {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Resolves with the first signal's name. */
  readonly received: Promise<NodeJS.Signals>;
  /** Asks to stop as a signal would. */
  readonly request: (as: NodeJS.Signals) => void;
  readonly dispose: () => void;
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;
const EXIT_INTERRUPTED = 130;

export function listenForStop(exit: (code: number) => void = (code) => process.exit(code)): StopSignals {
  const controller = new AbortController();
  let resolve: (signal: NodeJS.Signals) => void = () => undefined;
  const received = new Promise<NodeJS.Signals>((done) => (resolve = done));
  const onSignal = (signal: NodeJS.Signals) => {
    if (controller.signal.aborted) exit(EXIT_INTERRUPTED);
    controller.abort();
    resolve(signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    received,
    request: onSignal,
    dispose: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
