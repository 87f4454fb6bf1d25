export { answerPlan, type BackfillAnswer } from "./answer-plan.ts";
export { cancelBackfill, setBackfillPaused } from "./change-backfill.ts";
export {
  createBackfill,
  DEFAULT_BACKFILL_MAX_ACTIVE_RUNS,
  previewBackfill,
  type PreviewedDate,
} from "./create-backfill.ts";
export { fillBackfill, type FilledBackfill } from "./fill-backfill.ts";
export { MOST_DATES, type BackfillRequest } from "./plan-backfill.ts";
