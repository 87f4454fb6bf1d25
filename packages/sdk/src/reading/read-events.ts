import type { ScheduleSpec } from "../spec/index.ts";
import { show } from "./checks.ts";

// A text without an offset would mean another instant on another machine.
const WITH_OFFSET = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}.*(?:Z|[+-]\d{2}:?\d{2})$/;

function wrongEvent(event: unknown): string | undefined {
  if (event instanceof Date && !Number.isNaN(event.getTime())) return undefined;
  if (typeof event === "string" && WITH_OFFSET.test(event) && !Number.isNaN(Date.parse(event))) return undefined;
  return `must hold valid Dates or ISO texts with an offset like "2026-06-11T20:00:00+02:00", got ${show(event)}`;
}

/** In words that follow the name of what was given. */
export function wrongEvents(events: unknown): string | undefined {
  if (!Array.isArray(events) || events.length === 0)
    return `must be an array of one or more dates, got ${Array.isArray(events) ? "none" : show(events)}`;
  return events.map(wrongEvent).find((wrong) => wrong !== undefined);
}

type EventsSpec = Extract<ScheduleSpec, { kind: "events" }>;

/** In the order of time, each once. */
export function readEvents(given: Omit<EventsSpec, "events"> & { readonly events: readonly (Date | string)[] }) {
  const instants = [...new Set(given.events.map((event) => new Date(event).getTime()))].sort((a, b) => a - b);
  return { ...given, events: instants.map((instant) => new Date(instant).toISOString()) };
}
