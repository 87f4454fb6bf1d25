// The suite breaks this file, takes it away and changes it while its runs go on.
import { Dag } from "@millrace/sdk";
import { work } from "./effects.ts";

const EDITION: number = 0;

const edited = new Dag("chaos_edited", { maxActiveRuns: 4 });
const begin = edited.task("begin", () => work(300), { retries: 2, retryDelay: 0.2 })();
const goOn = edited.task("go_on", () => work(500), { retries: 2, retryDelay: 0.2 })();
goOn.after(begin);
if (EDITION % 2 === 1) {
  edited
    .task("extra", () => work(50), { retries: 2, retryDelay: 0.2 })()
    .after(begin);
}
