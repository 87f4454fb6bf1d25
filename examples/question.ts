// A question to people, and an approval. Answer them on the page, through the API, or on the command line; nobody has to:
// both have a default, which counts after a minute.
import { approval, Dag, hitl, type HitlAnswer } from "@millrace/sdk";

const dag = new Dag("question", {
  description: "Asks how large the report should be, and whether it may go out.",
  schedule: null,
  tags: ["example"],
  isPausedUponCreation: false,
});

const size = dag.task(
  "size",
  hitl({
    subject: "How large should the report be?",
    options: ["small", "large"],
    defaults: "small",
    params: { title: { default: "Report", schema: { type: "string", minLength: 1 } } },
    responseTimeout: 60,
  }),
)();

const write = dag.task(function writeReport({ answer }: { answer: HitlAnswer }) {
  const who = answer.responded_by_user?.name ?? "nobody";
  return `${String(answer.params_input["title"])}, ${answer.chosen_options.join()}, as ${who} wished`;
})({ answer: size });

const release = dag.task(
  "release",
  approval({
    subject: "May the report go out?",
    body: (_context, { report }: { report: string }) => `It says:\n\n> ${report}`,
    defaults: "Approve",
    responseTimeout: 60,
  }),
)({ report: write });

// Skipped when somebody rejects it.
dag
  .task(function send() {
    return "sent";
  })()
  .after(release);
