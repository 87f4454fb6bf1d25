// W3: a thousand tasks in four shapes. `upstreamOf` gives the tasks that a task comes after, all of them before it.
import { Dag } from "@millrace/sdk";
import { timed } from "./timed.ts";

function shape(name: string, dags: number, tasks: number, upstreamOf: (t: number) => number[]): void {
  for (let d = 0; d < dags; d++) {
    const dag = new Dag(`${name}_${d}`, { isPausedUponCreation: false, maxActiveTasks: 1_000, maxActiveRuns: 1_000 });
    const placed = Array.from({ length: tasks }, (_, t) => dag.task(`t${t}`, timed(10))());
    placed.forEach((task, t) => upstreamOf(t).forEach((before) => placed[before]?.before(task)));
  }
}

const SIDE = 10;

shape("short", 100, 10, (t) => (t === 0 ? [] : [t - 1]));
shape("long", 10, 100, (t) => (t === 0 ? [] : [t - 1]));
shape("tree", 100, 10, (t) => (t === 0 ? [] : [Math.floor((t - 1) / 2)]));
shape("grid", 10, SIDE * SIDE, (t) => [...(t % SIDE === 0 ? [] : [t - 1]), ...(t < SIDE ? [] : [t - SIDE])]);
