// As model.test.ts, with other histories each time.
import { testHistories } from "./fixtures/run-test.ts";

const given = process.env["MODEL_SEED"];
const seed = given === undefined ? 1_000_000 + Math.floor(Math.random() * 1_000_000_000) : Number(given) + 1_000_000;
await testHistories(seed, Number(process.env["MODEL_HISTORIES"] ?? 1000));
