// Lists that are known only when the run has come that far, assets that start other DAGs, and questions to people.
import { Asset, Dag, getContext, hitl, type HitlAnswer } from "@millrace/sdk";
import { note, work } from "./effects.ts";

const quick = { retryDelay: 0.2, retries: 2 };

const maps = new Dag("chaos_maps", { maxActiveRuns: 2, maxActiveTasks: 6 });
const list = maps.task(
  "list",
  async () => {
    await work(50);
    return Array.from({ length: 2 + (getContext().runId.length % 3) }, (_, n) => `item ${n}`);
  },
  quick,
)();
const each = maps.task("each", ({ item }: { item: string }) => work(200 + item.length), quick).expand({ item: list });
maps.task(
  "total",
  async ({ all }: { all: string[] }) => {
    await work(30);
    return all;
  },
  quick,
)({ all: each });

const made = new Asset({ name: "chaos_made" });
const makes = new Dag("chaos_makes", { maxActiveRuns: 4 });
makes.task("make", () => work(120), { ...quick, outlets: made })();

const uses = new Dag("chaos_uses", { schedule: made, maxActiveRuns: 3 });
uses.task("use", () => work(100), quick)();

const asks = new Dag("chaos_asks", { maxActiveRuns: 4 });
const asked = asks.task("asked", hitl({ subject: "Left or right?", options: ["left", "right"] }), quick)();
asks.task(
  "told",
  ({ answer }: { answer: HitlAnswer }) => {
    note("start");
    note("end");
    return [...answer.chosen_options];
  },
  quick,
)({ answer: asked });
