// Tasks on two queues: each is taken by the worker that serves its queue.
import { Dag } from "@millrace/sdk";

const dag = new Dag("queues", { isPausedUponCreation: false });

const light = dag.task("light", () => "light");
const heavy = dag.task("heavy", ({ from }: { from: string }) => `heavy after ${from}`, { queue: "heavy" });
const last = dag.task("last", ({ from }: { from: string }) => `last after ${from}`);

last({ from: heavy({ from: light() }) });
