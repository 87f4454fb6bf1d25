export { AttemptLog, type LogRedactor } from "./attempt-log.ts";
export { attemptLogPath, type AttemptLogKey } from "./attempt-log-path.ts";
export { callbacksLogPath, type CallbacksLogKey } from "./callbacks-log-path.ts";
export { createLogger, hideIn, withoutPassword, type Logger, type LoggerOptions } from "./logger.ts";
export { mapStack, type MapStackOptions } from "./map-stack.ts";
export { silentLogLine } from "./silent-log.ts";
