// Nights in which the clocks were changed while nothing ran: they are caught up one after the other, and whoever creates
// their runs is killed meanwhile.
import { cron, Dag } from "@millrace/sdk";
import { work } from "./effects.ts";

const nightly = { schedule: cron("30 2 * * *", { timezone: "Europe/Berlin" }), catchup: true, maxActiveRuns: 1 };
const noon = (day: string) => new Date(`${day}T12:00:00Z`);

const spring = new Dag("chaos_spring", { ...nightly, startDate: noon("2025-03-27"), endDate: noon("2025-04-01") });
spring.task("nightly", () => work(2_500), { retries: 2, retryDelay: 0.2 })();

const autumn = new Dag("chaos_autumn", { ...nightly, startDate: noon("2025-10-23"), endDate: noon("2025-10-28") });
autumn.task("nightly", () => work(2_500), { retries: 2, retryDelay: 0.2 })();
