// The runs of a schedule that is code, asked ahead as the dag-processor asks it, but in this process.
import type { PlanAnswer, PlanRequest } from "../../runtime/protocol.ts";
import type { DagSpec } from "../../spec/index.ts";
import { boundsOf, type PlannedRun } from "@millrace/shared/model";

/** Asks the code. */
export type AskTimetable = (request: PlanRequest) => PlanAnswer;

const ASKED_AT_ONCE = 500;
/** Of these a pass creates some and takes the one after them for the next. */
const LEAST_AHEAD = 100;

export class PlannedRuns {
  readonly #planRuns: AskTimetable;
  readonly #spec: DagSpec;
  readonly #from: number;
  #runs: PlannedRun[] = [];
  #last: PlannedRun | undefined;
  #ended = false;

  constructor(planRuns: AskTimetable, spec: DagSpec, from: number) {
    this.#planRuns = planRuns;
    this.#spec = spec;
    this.#from = from;
  }

  /**
   * @param after those whose logical date is earlier are no longer asked for
   * @throws Error of the timetable
   */
  ahead(after = -Infinity): readonly PlannedRun[] {
    this.#runs = this.#runs.filter((run) => run.logicalDate >= after);
    while (!this.#ended && this.#runs.length < LEAST_AHEAD) this.#ask();
    return this.#runs;
  }

  #ask(): void {
    const { earliest = null, latest = null } = boundsOf(this.#spec);
    const { runs, ended, error } = this.#planRuns({
      dagId: this.#spec.dagId,
      last: this.#last?.interval ?? null,
      now: this.#last?.runAfter ?? this.#from,
      earliest,
      latest,
      catchup: this.#spec.catchup,
      count: ASKED_AT_ONCE,
    });
    this.#runs.push(...runs);
    this.#last = runs.at(-1) ?? this.#last;
    this.#ended = ended;
    // What it said before it failed counts: the failure is told when nothing else is left.
    if (error !== undefined) {
      if (this.#runs.length === 0) throw new TimetableFailed(error);
      this.#ended = true;
    }
  }
}

export class TimetableFailed extends Error {
  override readonly name: string = "TimetableFailed";
}
