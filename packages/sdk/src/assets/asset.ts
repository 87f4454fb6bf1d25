// Assets as a DAG file names them: things that tasks update, and that DAGs wait for. They only describe; what is wrong
// with one is reported where a DAG uses it, when that DAG is read.
import type { Trigger } from "../triggers/trigger.ts";
import type { Json } from "../spec/index.ts";
import { wrongAsset } from "./check-asset.ts";
import { normalizeUri } from "./normalize-uri.ts";

/** Watches for changes from outside: each event of the trigger is an event of the asset. Airflow's `AssetWatcher`. */
export interface AssetWatcher {
  /** Unique for the asset. */
  readonly name: string;
  /** What to wait for, again and again, as long as a DAG that is not paused is scheduled on the asset. */
  readonly trigger: Trigger<unknown>;
}

/** The options of an {@link Asset}. At least one of `name` and `uri`; each stands in for the other. */
export interface AssetOptions {
  /** 1 to 1,500 ASCII characters; not `self` and not `context`. @default the `uri` */
  readonly name?: string;
  /**
   * 1 to 1,500 ASCII characters. One with a scheme is normalised: lower-case scheme, no user, no fragment, no slash at
   * the end, its query sorted. The scheme `airflow` is reserved; those that begin with `x-` are left as they are.
   * @default the `name`
   */
  readonly uri?: string;
  /** For sorting assets into kinds. @default "asset" */
  readonly group?: string;
  /** Data about the asset itself, JSON-safe. That of an event is added in the handler: `getContext().outletEvents`. */
  readonly extra?: Readonly<Record<string, Json>>;
  readonly watchers?: readonly AssetWatcher[];
}

/**
 * A thing that tasks produce and others wait for: a table, a file, a model. As an entry of `outlets`, each success of the
 * task is an event of it; as a `schedule`, each event starts a run. Airflow's `Asset`.
 *
 * @example
 * ```ts
 * const orders = new Asset({ name: "orders", uri: "s3://lake/orders" });
 * ```
 */
export class Asset {
  readonly name: string;
  readonly uri: string;
  readonly group: string;
  readonly extra: Readonly<Record<string, Json>>;
  readonly watchers: readonly AssetWatcher[];
  /** What is wrong with it, in words that follow its name. */
  readonly problems: readonly string[];

  constructor(options: AssetOptions) {
    this.problems = wrongAsset(options);
    const given: AssetOptions = typeof options === "object" && options !== null ? options : {};
    const { name, uri, group = "asset", extra = {}, watchers = [] } = given;
    this.name = String(name ?? uri ?? "");
    this.uri = normalizeUri(String(uri ?? name ?? ""));
    this.group = group;
    this.extra = extra;
    this.watchers = watchers;
  }

  /** An asset that another file declares, by its name or its uri. While there is none, it has no events. */
  static ref(which: string | { readonly name: string } | { readonly uri: string }): AssetRef {
    return new AssetRef(typeof which === "string" ? { name: which } : which);
  }
}

/** Made by {@link Asset.ref}. Airflow's `AssetNameRef` and `AssetUriRef`. */
export class AssetRef {
  readonly name: string | undefined;
  readonly uri: string | undefined;

  constructor(which: { readonly name?: string; readonly uri?: string }) {
    this.name = which.name;
    this.uri = which.uri === undefined ? undefined : normalizeUri(which.uri);
  }
}

/**
 * A name for assets that are known only when the task runs: the handler says which with
 * `getContext().outletEvents.for(alias).add(asset)`. Airflow's `AssetAlias`.
 */
export class AssetAlias {
  readonly name: string;
  readonly group: string;

  constructor(name: string, options: { readonly group?: string } = {}) {
    this.name = name;
    this.group = options.group ?? "asset";
  }
}

/** What `outlets` and `inlets` take. */
export type AssetUse = Asset | AssetRef | AssetAlias;
