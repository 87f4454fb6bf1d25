import { previewDag, readScheduleChange } from "@millrace/shared/db";
import type { App, Context } from "../http/app.ts";
import { presentPreview } from "../present/present-preview.ts";
import { DagPath } from "../schemas/common.ts";
import { DagPreview, PreviewQuery } from "../schemas/preview.ts";

const date = (given: string | undefined): Date | undefined => (given === undefined ? undefined : new Date(given));

/** Which runs a DAG will create: as it is, by an unpause, or after a change of its schedule. Nothing is created. */
export function previewRoutes(app: App, { db }: Context): void {
  app.get(
    "/api/v2/dags/:dag_id/preview",
    { schema: { params: DagPath, querystring: PreviewQuery, response: { 200: DagPreview } } },
    async ({ params, query }) => {
      const { unpause, limit, schedule, timezone, catchup } = query;
      const change = readScheduleChange({ schedule, timezone, catchup, startDate: date(query.start_date) });
      return presentPreview(
        await previewDag(db, params.dag_id, { unpause, limit, change, from: date(query.from), until: date(query.to) }),
      );
    },
  );
}
