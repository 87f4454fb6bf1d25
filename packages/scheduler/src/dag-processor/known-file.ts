// What the dag-processor remembers of a file that it read, and whether that is a reason to read it again.
import { areChanged, areTooFresh, stampInputs, type InputStamps } from "./folder/input-stamps.ts";
import type { FileRead } from "./read-dag-file.ts";

export interface KnownFile {
  readonly hash: string | undefined;
  readonly kind: FileRead["result"]["kind"];
  readonly stamps: InputStamps;
  /** The stamps may hide a change made while the file was read. */
  readonly tooFresh: boolean;
}

export interface Look {
  /** Something in the watched folders changed: an import that was missing may be there. */
  readonly folderChanged: boolean;
  /** DAGs were recorded or went: a DAG id that was taken may be free. */
  readonly dagsChanged: boolean;
  /** Packages are looked at, too, which change seldom. */
  readonly packages: boolean;
}

export type ReadAgain = "no" | "if its code changed" | "yes";

export async function readAgain(known: KnownFile | undefined, look: Look): Promise<ReadAgain> {
  if (known === undefined) return "yes";
  if (known.kind === "unbundled" && look.folderChanged) return "yes";
  if (known.kind === "refused" && look.dagsChanged) return "yes";
  const paths = [...known.stamps.keys()].filter((path) => look.packages || !path.includes("/node_modules/"));
  if (await areChanged(known.stamps, paths)) return "yes";
  return known.tooFresh ? "if its code changed" : "no";
}

/** @param before stamps of the inputs known before the file was read */
export async function remember(
  fileloc: string,
  read: FileRead,
  before: InputStamps,
  startedAt: number,
  earlier: KnownFile | undefined,
): Promise<KnownFile> {
  const after = await stampInputs([fileloc, ...read.inputs]);
  const stamps = new Map([...after].map(([path, stamp]) => [path, before.get(path) ?? stamp]));
  const kind = read.result.kind === "same" ? (earlier?.kind ?? "recorded") : read.result.kind;
  return { hash: read.hash, kind, stamps, tooFresh: areTooFresh(stamps, startedAt) };
}
