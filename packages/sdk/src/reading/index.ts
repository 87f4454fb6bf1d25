// For tools that read a schedule as a DAG file's option would be read.
export { readSchedule, wrongTimezone } from "./read-schedule.ts";
