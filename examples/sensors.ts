// Sensors in their three modes: in a worker all the time, in a worker for each poke, and in a triggerer.
import { tmpdir } from "node:os";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Dag, getContext } from "@millrace/sdk";
import { fileSensor, pokeReturn, sensor, timeSensor } from "@millrace/sdk/sensors";

const dag = new Dag("sensors", {
  description: "Waits for a moment, a number and a file, each in another mode.",
  schedule: null,
  tags: ["example"],
  isPausedUponCreation: false,
});

const moment = dag.task(
  "moment",
  timeSensor({ at: ({ runAfter }) => new Date(runAfter.getTime() + 2000), mode: "deferrable", timeout: 60 }),
)();

// The third poke of the try has what it looks for. Between two of them its slot is free for others.
const number = dag.task(
  "number",
  sensor({
    poke: (_args, { pokeNumber }) => pokeReturn(pokeNumber === 3, pokeNumber),
    mode: "reschedule",
    pokeInterval: 1,
    timeout: 60,
  }),
)();

const path = join(tmpdir(), "millrace-example-sensors.txt");
const write = dag.task(async function write({ found }: { found: number }) {
  await writeFile(path, `${found} pokes, in ${getContext().runId}\n`);
  return path;
})({ found: number });

const file = dag.task(
  "file",
  fileSensor({ path: (_context, { written }: { written: string }) => written, pokeInterval: 1, timeout: 60 }),
)({ written: write });

const sum = dag.task(function sumUp({ bytes, at }: { bytes: number; at: string }) {
  return `${bytes} bytes, not before ${at}`;
});
sum({ bytes: file.get("size"), at: moment.get("at") });
