// The effect log: what handlers did, told by themselves and not by Postgres.
import { readFile } from "node:fs/promises";

export interface Effect {
  readonly event: "start" | "tick" | "end" | "throw" | "callback" | "resume";
  /** dag/run/task/map/try; of a callback the key of its own. */
  readonly key: string;
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly pid: number;
  readonly at: number;
  readonly kind?: string;
  readonly callbackKey?: string;
}

export interface Effects {
  readonly lines: readonly Effect[];
  /** Processes that the monkey killed, and when. */
  readonly killed: ReadonlyMap<number, number>;
  of(key: string): readonly Effect[];
}

export async function readEffects(file: string): Promise<Effects> {
  const lines: Effect[] = [];
  const killed = new Map<number, number>();
  const byKey = new Map<string, Effect[]>();
  for (const text of (await readFile(file, "utf8")).split("\n")) {
    if (text === "") continue;
    // Written by dags/effects.ts and monkey.ts only.
    const line = JSON.parse(text) as
      Effect | { readonly event: "killed-child"; readonly pid: number; readonly at: number };
    if (line.event === "killed-child") {
      killed.set(line.pid, line.at);
      continue;
    }
    lines.push(line);
    const same = byKey.get(line.key);
    if (same === undefined) byKey.set(line.key, [line]);
    else same.push(line);
  }
  return { lines, killed, of: (key) => byKey.get(key) ?? [] };
}
