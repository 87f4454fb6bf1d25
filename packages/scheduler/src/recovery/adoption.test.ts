// Schedulers that fall silent, and the work that they had queued. The heartbeats are short; nothing else would send the
// messages again here.
import { adoptOrphans, Job, retireSilentJobs } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { expect, test } from "vitest";
import { installation } from "../fixtures/installation.ts";

const on = await installation({
  "scheduler.scheduler_heartbeat_sec": 0.2,
  "scheduler.scheduler_health_check_threshold": 1,
  "scheduler.orphaned_tasks_check_interval": 0.2,
  "scheduler.task_redispatch_after": 300,
  "scheduler.sweep_interval": 120,
});
const { db, work, seedDag, trigger, startScheduler, count, until } = on;

test("a scheduler that died between its commit and its sending is replaced: another adopts what it queued", async () => {
  await seedDag("dag", { a: {} });
  let sent = 0;
  on.onMessage(async (message) => {
    // The first sending is what the dead one did not get to do.
    if (++sent > 1) await work(message);
  });
  await startScheduler();
  await trigger("dag");
  await until("it is queued", async () => (await count("task_instance where state = 'queued'")) === 1);
  const [dead] = await db.read<{ id: number }>("select id from job");
  // As SIGKILL leaves it: the row says that it runs, and nobody says so any more.
  await db.read("update job set identity = gen_random_uuid(), latest_heartbeat = now() - interval '1 minute'");
  await startScheduler();
  await until("the task has run", async () => (await count("task_instance where state = 'success'")) === 1);
  expect(await db.read("select state from job where id = $1", [dead?.id])).toEqual([{ state: "failed" }]);
  expect(await count("task_instance where queued_by_job_id <> $1 and try_number = 1", [dead?.id])).toBe(1);
  expect(await count("task_instance_transition where to_state = 'running'")).toBe(1);
});

test("each orphan has one adopter, and what a living scheduler queued is left alone", async () => {
  await seedDag("dag", Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`t${i}`, {}])));
  await trigger("dag");
  const log = createLogger({ level: "silent", name: "test" });
  const jobs = [1, 2, 3, 4].map(() => new Job({ db, type: "SchedulerJob", heartbeatSeconds: 60, log }));
  await Promise.all(jobs.map((job) => job.start()));
  const [dead, ...heirs] = jobs;
  await db.read("update task_instance set state = 'scheduled', epoch = epoch + 1, try_number = 1");
  await db.read("update task_instance set state = 'queued', epoch = epoch + 1, queued_by_job_id = $1", [dead?.id]);
  const adopt = async () => (await Promise.all(heirs.map((heir) => db.run(adoptOrphans, [heir.id, 100])))).flat();
  expect(await adopt()).toEqual([]);
  await db.read("update job set state = 'failed' where id = $1", [dead?.id]);
  const adopted = await adopt();
  expect([adopted.length, new Set(adopted.map((attempt) => attempt.id)).size]).toEqual([20, 20]);
  expect(await count("task_instance where queued_by_job_id = any ($1)", [heirs.map((heir) => heir.id)])).toBe(20);
  await Promise.all(jobs.map((job) => job.stop()));
});

test("a process that falls silent is retired once, by the measure of its kind", async () => {
  await db.read(
    `insert into job (job_type, state, latest_heartbeat)
     values ('WorkerJob', 'running', now() - interval '20 s'), ('SchedulerJob', 'running', now() - interval '20 s')`,
  );
  // Short, since nobody is judged before the server itself has been up for as long.
  const retire = () =>
    db.run(retireSilentJobs, [
      ["WorkerJob", "SchedulerJob"],
      [3_600, 0.5],
    ]);
  const retired = (await Promise.all([retire(), retire(), retire()])).flat();
  expect(retired.map((job) => job.jobType)).toEqual(["SchedulerJob"]);
  expect(await db.read("select job_type from job where state = 'running'")).toEqual([{ job_type: "WorkerJob" }]);
});
