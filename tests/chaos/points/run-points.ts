// The crash points, one after the other under a steady load: each is armed, the first process that reaches it stops there,
// and then it is killed, sleeps for twice the lease, or loses its connection before or after its next commit. At the end
// everything is healed and checked as after the monkey.
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CRASH_POINTS, type CrashPoint } from "@millrace/shared/lifecycle";
import { waitUntil } from "@millrace/testkit/rig";
import type { Load } from "../load/load.ts";
import type { Fleet } from "../rig/fleet.ts";
import { TIMES } from "../rig/fleet.ts";
import type { Member } from "../rig/member.ts";

export const ACTIONS = ["exit", "freeze", "before commit", "after commit"] as const;
export type Action = (typeof ACTIONS)[number];

export interface PointOutcome {
  readonly point: CrashPoint;
  readonly action: Action;
  /** Who stopped there; undefined when nobody came by. */
  readonly member: string | undefined;
  /** Milliseconds since the epoch. */
  readonly from: number;
  to: number;
}

const REACHED_MS = 90_000;
const PROVOKE_EVERY_MS = 8_000;

export async function runPoints(fleet: Fleet, load: Load, file: string): Promise<PointOutcome[]> {
  const outcomes: PointOutcome[] = [];
  const asleep: Promise<void>[] = [];
  for (const action of ACTIONS) {
    for (const point of CRASH_POINTS) {
      // Whole at once: who reads half a name stops nowhere.
      await writeFile(`${file}.new`, point);
      await rename(`${file}.new`, file);
      const stopProvoking = provoke(fleet, load, point);
      const member = await whoStopped(fleet, file).catch(() => undefined);
      stopProvoking();
      const outcome: PointOutcome = { point, action, member: member?.name, from: Date.now(), to: Date.now() };
      outcomes.push(outcome);
      if (member === undefined) continue;
      const ended = action === "freeze" ? wakeLater(member) : act(member, action);
      const noted = ended.then(() => void (outcome.to = Date.now()));
      if (action === "freeze") asleep.push(noted);
      else await noted;
    }
  }
  await rm(file, { force: true });
  await Promise.all(asleep);
  return outcomes;
}

/** What the load does not do by itself all the time. */
function provoke(fleet: Fleet, load: Load, point: CrashPoint): () => void {
  const once = () => {
    if (point === "api.cleared") void load.clearOne();
    if (point === "scheduler.lost") void loseWorker(fleet);
  };
  once();
  const timer = setInterval(once, PROVOKE_EVERY_MS);
  return () => clearInterval(timer);
}

/** The worker of something that runs, so that it is found as lost. */
async function loseWorker(fleet: Fleet): Promise<void> {
  const { pid } = await waitUntil(
    async () =>
      (
        await fleet.servers.query<{ pid: number }>(
          `select pid from task_instance where state = 'running' order by task_id = 'slow' desc, start_date desc limit 1`,
        )
      )[0],
    { what: "something runs", timeoutMs: PROVOKE_EVERY_MS },
  ).catch(() => ({ pid: 0 }));
  fleet
    .of("worker")
    .find((worker) => worker.pid === pid)
    ?.kill();
}

async function whoStopped(fleet: Fleet, file: string): Promise<Member> {
  const mark = await waitUntil(
    async () => (await readdir(dirname(file))).find((name) => new RegExp(`^${basename(file)}\\.\\d+$`).test(name)),
    { what: "a process reaches the point", timeoutMs: REACHED_MS },
  );
  await rm(join(dirname(file), mark));
  const pid = Number(mark.split(".").at(-1));
  // Only then: what is told to go on before it has stopped stays there for ever.
  await waitUntil(async () => (await readFile(`/proc/${pid}/stat`, "utf8")).includes(") T "), {
    what: "it has stopped",
  });
  const member = fleet.members.find((candidate) => candidate.pid === pid);
  if (member === undefined) throw new Error(`process ${pid} is none of the fleet`);
  return member;
}

async function wakeLater(member: Member): Promise<void> {
  await sleep(TIMES.lease * 2_000);
  member.thaw();
}

async function act(member: Member, action: Exclude<Action, "freeze">): Promise<void> {
  if (action === "exit") {
    member.kill();
    return;
  }
  const broken = member.postgresLink.breakNextCommit(action === "before commit" ? "before" : "after");
  member.thaw();
  await Promise.race([broken, sleep(3_000)]);
}
