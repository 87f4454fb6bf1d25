/** Where DAG files come from. */
export interface DagTree {
  /** Absolute path of the folder with the files. */
  readonly folder: string;
  /** What people are told in place of it; the same for every version. */
  readonly shownAs: string;
  /** Names what all files are at; null: the folder has no versions, its files change one by one. */
  readonly version: string | null;
}

export interface DagSource {
  /** What is to be read now; undefined: nothing has been got yet. */
  readonly current: DagTree | undefined;
  /** Looks for a newer version, if that is due. `now`: waits for the answer, and throws when there is no tree at all. */
  refresh(now: boolean): Promise<void>;
  /** What keeps it from being refreshed, for people. */
  readonly problem: string | undefined;
  stop(): Promise<void>;
}
