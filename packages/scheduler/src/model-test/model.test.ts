// The state machine against a reference written from its rules alone: random DAGs, random histories, the same states after
// each event. MODEL_SEED and MODEL_HISTORIES repeat what a failure names.
import { testHistories } from "./fixtures/run-test.ts";

await testHistories(Number(process.env["MODEL_SEED"] ?? 1), Number(process.env["MODEL_HISTORIES"] ?? 1000));
