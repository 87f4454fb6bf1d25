// Ways to go on: a switch chooses one of three arms, an if guards one task, and a join runs whichever arm was taken.
import { Dag, getContext } from "@millrace/sdk";
import { empty } from "@millrace/sdk/operators";

const dag = new Dag("branching", {
  description: 'Chooses its way by params: trigger it with { "size": "large" }.',
  schedule: null,
  params: { size: "small", notify: true },
  tags: ["example"],
  isPausedUponCreation: false,
});

const small = dag.task("small", () => "handled at once")();
const medium = dag.task("medium", () => "handled in parts")();
const large = dag.task("large", () => "handled overnight")();

const choose = dag.task(function choose() {
  switch (getContext().params["size"]) {
    case "large":
      return large;
    case "medium":
      return medium;
    default:
      return small;
  }
})();
dag.switch(choose).case(small).case(medium).case(large);

// Two of the three arms are skipped: a join that asks for all to succeed would be skipped with them.
const join = dag
  .task(
    "join",
    ({ chosen }: { chosen?: string | undefined }) => {
      console.log(`went by ${chosen ?? "nothing"}`);
    },
    { triggerRule: "none_failed_min_one_success" },
  )({ chosen: choose })
  .after(small, medium, large);

const wanted = dag
  .task("notification_wanted", () => getContext().params["notify"] === true)()
  .after(join);
const notify = dag.task("notify", () => console.log("done"))();
dag.if(wanted).then(notify);

dag.task("end", empty(), { triggerRule: "none_failed" })().after(notify);
