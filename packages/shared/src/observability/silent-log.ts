/**
 * What the log of a try would hold that succeeded at once and said nothing: its worker wrote no file for it. A JSON line
 * as in a log file, made from the row of the try.
 */
export function silentLogLine(row: {
  readonly tryNumber: number;
  readonly endDate: Date | null;
  readonly hostname: string | null;
}): string {
  return JSON.stringify({
    timestamp: (row.endDate ?? new Date(0)).toISOString(),
    level: "info",
    logger: "millrace",
    event: `try ${row.tryNumber} succeeded on ${row.hostname ?? "its worker"} and printed nothing`,
  });
}
