// Where in the user's file something was declared. Captured at every declaration, so it has to be cheap:
// V8 records the frames at once but renders the text only when it is first read.

/** Enough to step out of a helper function or two in the user's own code. */
const FRAMES = 8;

export interface CallSite {
  readonly stack?: string;
}

/** The place that called `boundary`, which is a function of this SDK that a user's file calls. */
export function callSite(boundary: NonNullable<Parameters<typeof Error.captureStackTrace>[1]>): CallSite {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES;
  const site: CallSite = {};
  Error.captureStackTrace(site, boundary);
  Error.stackTraceLimit = limit;
  return site;
}

/** A stack as V8 would print it for an error with `message` thrown at `site`; undefined when no frame is known. */
export function stackAt(site: CallSite, message: string): string | undefined {
  const frames = (site.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line) && !line.includes("(node:"));
  return frames.length === 0 ? undefined : [`DagError: ${message}`, ...frames].join("\n");
}
