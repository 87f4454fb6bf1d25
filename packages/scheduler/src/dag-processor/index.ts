export { bundleDagFile } from "./bundle/bundle-dag-file.ts";
export { formatProblem, type DagBundle, type FailedBundle, type FileProblem } from "./bundle/dag-bundle.ts";
export { parseInChild, type ParsedBundle, type ParseOptions, type ParseOutcome } from "./parse/parse-in-child.ts";
export { dagProblemsText, fileProblemsText } from "./record/import-error-text.ts";
export { judgeReadings, type Judgement } from "./record/judge-readings.ts";
export { recordFailure, recordFiles } from "./record/record-failure.ts";
export { recordParsed, type ParsedFile, type Recorded } from "./record/record-parsed.ts";
export { DagProcessor, type DagProcessorOptions, type Processed } from "./dag-processor.ts";
export type { FileRead } from "./read-dag-file.ts";
