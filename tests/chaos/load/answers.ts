// The people: they answer whatever is asked, until the suite is over. An answer that had no reply may have been taken; it
// is sent again, and another may be sent beside it: one of them counts.
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../random.ts";
import type { Fleet } from "../rig/fleet.ts";
import { ApiClient } from "./api-client.ts";

interface Open {
  readonly hitl_details: readonly {
    readonly task_instance: {
      readonly dag_id: string;
      readonly dag_run_id: string;
      readonly task_id: string;
      readonly map_index: number;
    };
  }[];
}

const EVERY_MS = 400;

export class Answers {
  /** What was sent, by `dag/run`. */
  readonly sent = new Map<string, Set<string>>();
  readonly #api: ApiClient;
  readonly #random: Random;
  #stopped = false;
  #work: Promise<void> = Promise.resolve();

  constructor(fleet: Fleet, seed: number) {
    this.#api = new ApiClient(fleet);
    this.#random = new Random(seed ^ 0xa5c);
  }

  start(): void {
    this.#work = this.#answer();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#work;
  }

  async #answer(): Promise<void> {
    while (!this.#stopped) {
      await sleep(EVERY_MS);
      const open = await this.#api.send("GET", "/api/v2/dags/~/dagRuns/~/hitlDetails?response_received=false");
      if (open?.status !== 200) continue;
      // The API's own answer, of its documented shape.
      for (const { task_instance: task } of (open.body as Open).hitl_details) {
        const chosen = this.#random.pick(["left", "right"]);
        const run = `${task.dag_id}/${task.dag_run_id}`;
        this.sent.set(run, (this.sent.get(run) ?? new Set()).add(chosen));
        const path = `/api/v2/dags/${task.dag_id}/dagRuns/${encodeURIComponent(task.dag_run_id)}/taskInstances/${task.task_id}/${task.map_index}/hitlDetails`;
        await this.#api.send("PATCH", path, { chosen_options: [chosen] });
      }
    }
  }
}
