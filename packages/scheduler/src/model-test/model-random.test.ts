// As model.test.ts, with other histories: new ones each time for whoever works on the product, the same ones where a commit
// is judged, so that its verdict does not depend on luck.
import { testHistories } from "./fixtures/run-test.ts";

const JUDGED_SEED = 1_000_001;
const given = process.env["MODEL_SEED"];
const drawn = process.env["CI"] === undefined ? 1_000_000 + Math.floor(Math.random() * 1_000_000_000) : JUDGED_SEED;
const seed = given === undefined ? drawn : Number(given) + 1_000_000;
await testHistories(seed, Number(process.env["MODEL_HISTORIES"] ?? 1000));
