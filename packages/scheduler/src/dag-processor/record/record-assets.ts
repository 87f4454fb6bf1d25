// The assets of a file's dags, as rows: what is declared, who waits for what, which task updates and reads what, and which
// assets are active. In the transaction that records the dags.
import type { AssetSpec, AssetUseSpec, DagSpec } from "@millrace/sdk/spec";
import { activateAssets, putAssets, replaceAssetReferences, type Queryable } from "@millrace/shared/db";
import { usesIn } from "@millrace/shared/model";

interface Reference {
  readonly kind: "schedule" | "alias" | "name" | "uri" | "outlet" | "inlet";
  readonly dag: string;
  readonly task?: string;
  readonly name?: string;
  readonly uri?: string;
}

/** @param stale dags that the file no longer declares: what only they declared is not active any more */
export async function recordAssets(tx: Queryable, specs: readonly DagSpec[], stale: readonly string[]): Promise<void> {
  const uses = specs.flatMap(usesOf);
  if (uses.length > 0) {
    const assets = uses.flatMap(({ use }) => ("asset" in use ? [use.asset] : []));
    const aliases = uses.flatMap(({ use }) => ("alias" in use ? [use.alias] : []));
    await tx.run(putAssets, [JSON.stringify(assets.map(withDefaults)), JSON.stringify(aliases)]);
  }
  const references = uses.flatMap(referenceOf);
  const dagIds = specs.map((spec) => spec.dagId);
  const changed = dagIds.length === 0 ? [] : await tx.run(replaceAssetReferences, [dagIds, JSON.stringify(references)]);
  if (changed.length > 0 || stale.length > 0) await tx.run(activateAssets, []);
}

export const usesAssets = (spec: DagSpec): boolean => usesOf(spec).length > 0;

interface Use {
  readonly dag: string;
  /** Undefined: in the schedule. */
  readonly at?: { readonly task: string; readonly kind: "outlet" | "inlet" };
  readonly use: AssetUseSpec;
}

function usesOf({ dagId, schedule, tasks }: DagSpec): Use[] {
  const scheduled = schedule.kind === "assets" || schedule.kind === "assetOrTime" ? usesIn(schedule.assets) : [];
  return [
    ...scheduled.map((use) => ({ dag: dagId, use })),
    ...tasks.flatMap(({ taskId, outlets = [], inlets = [] }) => [
      ...outlets.map((use) => ({ dag: dagId, at: { task: taskId, kind: "outlet" as const }, use })),
      ...inlets.map((use) => ({ dag: dagId, at: { task: taskId, kind: "inlet" as const }, use })),
    ]),
  ];
}

function referenceOf({ dag, at, use }: Use): Reference[] {
  if (at !== undefined) {
    return "asset" in use ? [{ ...at, dag, name: use.asset.name, uri: use.asset.uri }] : [];
  }
  if ("asset" in use) return [{ kind: "schedule", dag, name: use.asset.name, uri: use.asset.uri }];
  if ("alias" in use) return [{ kind: "alias", dag, name: use.alias.name }];
  const { name, uri } = use.ref;
  if (uri !== undefined) return [{ kind: "uri", dag, uri }];
  return name === undefined ? [] : [{ kind: "name", dag, name }];
}

const withDefaults = ({ name, uri, group = "asset", extra = {} }: AssetSpec) => ({ name, uri, group, extra });
