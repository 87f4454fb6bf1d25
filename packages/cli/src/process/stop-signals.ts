// SIGTERM and SIGINT: the first asks to stop, the second ends the process at once.
import { systemClock, type Clock } from "@millrace/shared/lifecycle";

export interface StopSignals {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Resolves with the first signal's name. */
  readonly received: Promise<NodeJS.Signals>;
  readonly dispose: () => void;
}

export interface StopSignalOptions {
  readonly exit?: (code: number) => void;
  readonly clock?: Clock;
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;
const EXIT_INTERRUPTED = 130;

/**
 * One Ctrl-C may come twice: from the terminal, which signals everybody in the foreground, and from npm or a shell
 * script that hands on what it got itself. So a second signal counts only after this time.
 */
const SAME_SIGNAL_MS = 400;

export function listenForStop(options: StopSignalOptions = {}): StopSignals {
  const { exit = (code) => process.exit(code), clock = systemClock } = options;
  const controller = new AbortController();
  let resolve: (signal: NodeJS.Signals) => void = () => undefined;
  const received = new Promise<NodeJS.Signals>((done) => (resolve = done));
  let firstAt = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    if (controller.signal.aborted) {
      if (clock.now() - firstAt >= SAME_SIGNAL_MS) exit(EXIT_INTERRUPTED);
      return;
    }
    firstAt = clock.now();
    controller.abort();
    resolve(signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    received,
    dispose: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
