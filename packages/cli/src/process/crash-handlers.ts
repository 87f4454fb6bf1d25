import { inspect } from "node:util";
import type { Logger } from "@millrace/shared/observability";

/** An error that nobody handled leaves the process in a state nobody knows: it says so and ends, others take over. */
export function endOnCrash(log: Logger): () => void {
  const crash = (kind: string) => (reason: unknown) => {
    const stack = reason instanceof Error ? (reason.stack ?? reason.message) : inspect(reason);
    log.fatal({ kind, stack }, "the process ends after an error that nobody handled");
    process.exit(1);
  };
  const onException = crash("uncaughtException");
  const onRejection = crash("unhandledRejection");
  process.on("uncaughtException", onException);
  process.on("unhandledRejection", onRejection);
  return () => {
    process.off("uncaughtException", onException);
    process.off("unhandledRejection", onRejection);
  };
}
