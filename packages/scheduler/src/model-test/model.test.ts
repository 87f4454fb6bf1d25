// The state machine against a reference written from its rules alone: random DAGs, random histories, the same states after
// each event. MODEL_SEED and MODEL_HISTORIES repeat what a failure names.
import { testHistories } from "./fixtures/run-test.ts";

/** A run that failed fast in a look at the whole of it did not tell the next run, which depended on its tasks. */
const FOUND = [645_771_315];

await testHistories(Number(process.env["MODEL_SEED"] ?? 1), Number(process.env["MODEL_HISTORIES"] ?? 1000), FOUND);
