export { answerTask, type Answered, type AnswerRequest } from "./answer-question.ts";
export { clearTasks, type ClearRequest, type Operated } from "./clear-tasks.ts";
export type { TargetSelection, TargetTask } from "./find-targets.ts";
export { deleteRun, markRun, type MarkRunRequest } from "./mark-run.ts";
export { moveToNewest } from "./move-to-newest.ts";
export { noteRun, type NoteRunRequest } from "./note-run.ts";
export { MARKS, markTasks, type Mark, type MarkRequest } from "./mark-tasks.ts";
