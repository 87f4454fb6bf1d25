export { createLogger, withoutPassword, type Logger, type LoggerOptions } from "./logger.ts";
