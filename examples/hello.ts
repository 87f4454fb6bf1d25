// The smallest DAG: two tasks and a value that goes from one to the other, every minute.
import { Dag, getContext } from "@millrace/sdk";

const dag = new Dag("hello", {
  description: "Says hello once a minute.",
  schedule: "* * * * *",
  tags: ["example"],
  isPausedUponCreation: false,
});

const greet = dag.task(function greet() {
  return `Hello from ${getContext().runId}`;
});

const say = dag.task(function say({ greeting }: { greeting: string }) {
  console.log(greeting);
});

say({ greeting: greet() });
