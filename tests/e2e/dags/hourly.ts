// Paused: its past is run by the test of backfills.
import { Dag } from "@millrace/sdk";

const dag = new Dag("hourly", { schedule: "0 * * * *", startDate: new Date("2025-01-01"), isPausedUponCreation: true });
dag.task("one", () => 1)();
