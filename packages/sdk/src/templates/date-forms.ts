// Airflow's ways to write a date.
import { isoformat } from "./date-value.ts";
import { strftime } from "./strftime.ts";

export const dsOf = (at: Date): string => strftime(at, "%Y-%m-%d");
export const tsOf = (at: Date): string => isoformat(at);
export const tsNodashOf = (at: Date): string => strftime(at, "%Y%m%dT%H%M%S");
export const tsNodashWithTzOf = (at: Date): string => tsOf(at).replaceAll(/[-:]/g, "");
