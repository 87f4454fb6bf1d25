// Tasks that wait without a worker: for a moment, and for what a trigger of one's own looks for. Both hold no slot while
// they are deferred; see the state of the tasks while the run goes on.
import { Dag, deferrable, waitFor } from "@millrace/sdk";
import { after, defineTrigger } from "@millrace/sdk/triggers";

const dag = new Dag("waiting", {
  description: "Starts a job that takes some seconds, and waits for it without a worker.",
  schedule: null,
  tags: ["example"],
  isPausedUponCreation: false,
});

// In a triggerer, beside many others: it awaits and does not compute. Here the job is done when its time has come; a real
// one would be asked, as in `await fetch(url, { signal })`.
const jobDone = defineTrigger({
  name: "job_done",
  run: async ({ doneAt }: { doneAt: number }, { signal, log }) => {
    while (Date.now() < doneAt) {
      signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    log("info", "the job is done");
    return { rows: 42 };
  },
});

const train = dag.task(
  "train",
  deferrable({
    start: ({ seconds }: { seconds: number }) => {
      const doneAt = Date.now() + seconds * 1000;
      console.log(`started a job that takes ${seconds} s`);
      return waitFor(jobDone({ doneAt }), { state: { jobId: `job-${doneAt}` } });
    },
    resume: (event, _args, { jobId }) => ({ jobId, rows: event.rows }),
    timeout: 60,
  }),
);

// No worker has this task before its event, and none after it: the event is its value.
const pause = dag.task("pause", deferrable({ trigger: after({ seconds: 2 }) }));

const report = dag.task(function report({ job, at }: { job: { jobId: string; rows: number }; at: string }) {
  return `${job.jobId} had ${job.rows} rows; the pause ended at ${at}`;
});

report({ job: train({ seconds: 2 }), at: pause().get("at") });
