// `npm run bench -- W0 W1 W2 W3 W4 W5 W6 W7 W8 W9 W10 guard [--quick]`: runs workloads, prints a table of each and writes bench/results/<id>.json.
// W0 always comes first: its figures are the denominators. Nothing here passes or fails by its time.
import { startServices, type Services } from "@millrace/testkit/services";
import { STATEMENT_SETTINGS } from "./rig/statements.ts";
import { guard } from "./workloads/guard.ts";
import { w0, type Floor } from "./workloads/w0-floor.ts";
import { w1 } from "./workloads/w1-chain.ts";
import { w2 } from "./workloads/w2-fan.ts";
import { w3 } from "./workloads/w3-lag.ts";
import { w4 } from "./workloads/w4-throughput.ts";
import { w5 } from "./workloads/w5-blocked.ts";
import { w6 } from "./workloads/w6-mapped.ts";
import { w7 } from "./workloads/w7-history.ts";
import { w8 } from "./workloads/w8-open-loop.ts";
import { w10 } from "./workloads/w10-heartbeats.ts";
import { w9 } from "./workloads/w9-deferred.ts";

type Workload = (services: Services, quick: boolean, floor: Floor) => Promise<void>;
const WORKLOADS: Readonly<Record<string, Workload>> = {
  W1: w1,
  W2: w2,
  W3: w3,
  W4: w4,
  W5: w5,
  W6: w6,
  W7: w7,
  W8: w8,
  W9: w9,
  W10: w10,
  guard,
};

const flags = process.argv.slice(2).filter((argument) => argument.startsWith("--"));
const asked = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const unknown = [
  ...asked.filter((id) => id !== "W0" && id !== "all" && !(id in WORKLOADS)),
  ...flags.filter((flag) => flag !== "--quick" && flag !== "--statements"),
];
if (unknown.length > 0 || asked.length === 0) {
  console.error(
    `Usage: npm run bench -- <W0 | ${Object.keys(WORKLOADS).join(" | ")} | all> … [--quick] [--statements]`,
  );
  if (unknown.length > 0) console.error(`Not known: ${unknown.join(", ")}`);
  process.exit(2);
}
const quick = flags.includes("--quick");
const ids = asked.includes("all") ? Object.keys(WORKLOADS) : asked.filter((id) => id !== "W0");

const services = await startServices({ durable: true, postgres: STATEMENT_SETTINGS });
try {
  const floor = await w0(services, quick);
  for (const id of ids) await WORKLOADS[id]?.(services, quick, floor);
} finally {
  await services.stop();
}
