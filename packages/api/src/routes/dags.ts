import { getDag, getDagSpec, getSource, listDags, listRecentRuns, listVersions, setPaused } from "@millrace/shared/db";
import type { Static } from "typebox";
import { Type } from "typebox";
import { userName } from "../auth/guard.ts";
import type { App, Context } from "../http/app.ts";
import { pageOf } from "../http/paging.ts";
import { presentDag, presentParams, presentRecentRun, presentVersion } from "../present/present-dag.ts";
import { DagPath, Paging } from "../schemas/common.ts";
import {
  Dag,
  DagCollection,
  DagDetails,
  DagLines,
  DagListQuery,
  DagPatch,
  DagSource,
  DagVersionCollection,
} from "../schemas/dags.ts";

const RECENT_RUNS = 14;

const filterOf = (query: Static<typeof DagListQuery>) => ({
  dagIdPattern: query.dag_id_pattern,
  dagDisplayNamePattern: query.dag_display_name_pattern,
  paused: query.paused,
  hasImportErrors: query.has_import_errors,
  tags: query.tags,
  tagsMatchMode: query.tags_match_mode,
  owners: query.owners,
  excludeStale: query.exclude_stale,
  lastDagRunState: query.last_dag_run_state,
  orderBy: query.order_by,
});

export function dagRoutes(app: App, { db, broker, config }: Context): void {
  app.get(
    "/api/v2/dags",
    { schema: { querystring: DagListQuery, response: { 200: DagCollection } } },
    async ({ query }) => {
      const page = await listDags(db, { ...filterOf(query), ...pageOf(query, config.api) });
      return { dags: page.items.map(presentDag), total_entries: page.totalEntries };
    },
  );

  app.get("/api/v2/dags/:dag_id", { schema: { params: DagPath, response: { 200: Dag } } }, async ({ params }) =>
    presentDag(await getDag(db, params.dag_id)),
  );

  app.get(
    "/api/v2/dags/:dag_id/details",
    { schema: { params: DagPath, response: { 200: DagDetails } } },
    async ({ params }) => {
      const [dag, spec] = await Promise.all([getDag(db, params.dag_id), getDagSpec(db, params.dag_id)]);
      return { ...presentDag(dag), params: presentParams(spec), doc_md: spec.docMd ?? null };
    },
  );

  app.patch(
    "/api/v2/dags/:dag_id",
    { schema: { params: DagPath, body: DagPatch, response: { 200: Dag } } },
    async (request) => {
      const { dag_id } = request.params;
      await setPaused(db, dag_id, request.body.is_paused, userName(request));
      if (!request.body.is_paused) broker.wake([{ dagRunId: null, taskIds: null }]);
      return presentDag(await getDag(db, dag_id));
    },
  );

  app.get(
    "/api/v2/dags/:dag_id/dagVersions",
    { schema: { params: DagPath, querystring: Type.Object(Paging), response: { 200: DagVersionCollection } } },
    async ({ params, query }) => {
      const dag = await getDag(db, params.dag_id);
      const page = await listVersions(db, dag.dagId, pageOf(query, config.api));
      const name = dag.dagDisplayName ?? dag.dagId;
      return {
        dag_versions: page.items.map((version) => presentVersion(version, name)),
        total_entries: page.totalEntries,
      };
    },
  );

  const SourceQuery = Type.Object({
    version_number: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })),
  });
  app.get(
    "/api/v2/dagSources/:dag_id",
    {
      schema: { params: DagPath, querystring: SourceQuery, response: { 200: Type.Union([DagSource, Type.String()]) } },
    },
    async ({ params, query, headers }, reply) => {
      const dag = await getDag(db, params.dag_id);
      const source = await getSource(db, dag.dagId, query.version_number);
      if (headers.accept === "text/plain") return await reply.type("text/plain; charset=utf-8").send(source.sourceCode);
      return {
        content: source.sourceCode,
        dag_id: dag.dagId,
        version_number: source.versionNumber,
        dag_display_name: dag.dagDisplayName ?? dag.dagId,
      };
    },
  );

  app.get("/ui/dags", { schema: { querystring: DagListQuery, response: { 200: DagLines } } }, async ({ query }) => {
    const page = await listDags(db, { ...filterOf(query), ...pageOf(query, config.api) });
    const ids = page.items.map((dag) => dag.dagId);
    const runs = await listRecentRuns(db, ids, RECENT_RUNS);
    return {
      dags: page.items.map((dag) => ({
        ...presentDag(dag),
        recent_runs: runs
          .filter((run) => run.dagId === dag.dagId)
          .map(presentRecentRun)
          .reverse(),
      })),
      total_entries: page.totalEntries,
    };
  });
}
