export { Batcher, type BatcherOptions } from "./batcher.ts";
export { systemClock, type Clock, type Timer } from "./clock.ts";
export { armCrashPoints, crashPoint, CRASH_POINTS, type CrashPoint } from "./crash-point.ts";
export { killTree } from "./kill-tree.ts";
export { Periodic, type PeriodicOptions } from "./periodic.ts";
export { plainProgram } from "./plain-program.ts";
export type { Service } from "./service.ts";
export { SignalGate } from "./signal-gate.ts";
