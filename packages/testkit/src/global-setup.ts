// vitest's global setup of the project `integration`: once per run, before the first test file.
import { migrate } from "@millrace/shared/db";
import { createTemplate, dropTemplate } from "./database/template.ts";
import { publishRunContext } from "./run-context.ts";
import { startServices } from "./services/start-services.ts";

export default async function setup(): Promise<() => Promise<void>> {
  const services = await startServices();
  try {
    const template = await createTemplate(services.postgresUrl, migrate);
    publishRunContext({ postgresUrl: services.postgresUrl, redisUrl: services.redisUrl, template });
    return async () => {
      await dropTemplate(services.postgresUrl, template);
      await services.stop();
    };
  } catch (error) {
    await services.stop();
    throw error;
  }
}
