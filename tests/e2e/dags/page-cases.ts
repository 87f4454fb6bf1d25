// For the tests of the pages.
import { Dag } from "@millrace/sdk";
import { bash } from "@millrace/sdk/operators";

const daily = new Dag("pages_daily", { schedule: "@daily", isPausedUponCreation: true, tags: ["test"] });
daily.task("extract", () => 1)();

const byHand = new Dag("pages_by_hand", { isPausedUponCreation: true, tags: ["test"] });
byHand.task("extract", () => 1)();

const rendered = new Dag("pages_rendered", { isPausedUponCreation: false, tags: ["test"] });
rendered.task(
  "greet",
  bash("echo hello {{ dag_run.conf.who | quote }}\necho {{ var.value.pages_token | quote }}", {
    env: { DAY: "{{ ds_nodash }}" },
  }),
)();
