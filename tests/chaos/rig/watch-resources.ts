// What each process holds open: files, and connections to both servers. A leak of one for each fault shows after a minute
// of them, when everything has come to rest: what is held then may not be more than what its kind needs at work.
import { readdir } from "node:fs/promises";
import type { Fleet } from "./fleet.ts";
import type { Member, MemberKind } from "./member.ts";

interface Held {
  readonly files: number;
  readonly postgres: number;
  readonly redis: number;
}

/** What a process of a kind holds at most when it is at work: measured, and half as much more of files. */
const MOST: Readonly<Record<MemberKind, Held>> = {
  scheduler: { files: 50, postgres: 7, redis: 4 },
  worker: { files: 75, postgres: 7, redis: 6 },
  triggerer: { files: 45, postgres: 7, redis: 4 },
  // Its clients keep their connections for a while.
  api: { files: 150, postgres: 8, redis: 3 },
  "dag-processor": { files: 45, postgres: 7, redis: 3 },
};

export async function whoHoldsTooMuch(fleet: Fleet): Promise<string[]> {
  const found: string[] = [];
  for (const member of fleet.members) {
    const held = await heldBy(member);
    const most = MOST[member.kind];
    for (const what of ["files", "postgres", "redis"] as const) {
      if (held[what] > most[what]) found.push(`${member.name} holds ${held[what]} of ${what}, more than ${most[what]}`);
    }
  }
  return found;
}

async function heldBy(member: Member): Promise<Held> {
  const files = member.pid === undefined ? [] : await readdir(`/proc/${member.pid}/fd`).catch(() => []);
  return { files: files.length, postgres: member.postgresLink.connections, redis: member.redisLink.connections };
}
