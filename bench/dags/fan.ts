// W2: many tasks at once, with nothing before them and with one task on each side.
import { Dag } from "@millrace/sdk";
import { timed } from "./timed.ts";

const options = { isPausedUponCreation: false, maxActiveTasks: 10_000 };

const fan = new Dag("fan_400", options);
for (let t = 0; t < 400; t++) fan.task(`t${t}`, timed(10))();

const star = new Dag("star_1000", options);
const first = star.task("first", timed(10))();
const last = star.task("last", timed(10))();
for (let t = 0; t < 1_000; t++) {
  const ray = star.task(`t${t}`, timed(10))();
  first.before(ray);
  ray.before(last);
}
