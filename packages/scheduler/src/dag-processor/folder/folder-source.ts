import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { AppError } from "@millrace/shared/errors";
import type { DagSource, DagTree } from "./dag-source.ts";

/** A folder of this machine. */
export class FolderSource implements DagSource {
  readonly problem = undefined;
  readonly current: DagTree;
  readonly #given: string;

  constructor(given: string) {
    const folder = resolve(given);
    this.#given = given;
    this.current = { folder, shownAs: folder, version: null };
  }

  /** @throws AppError CONFIG_INVALID when there is no such folder. */
  async refresh(now: boolean): Promise<void> {
    if (!now) return;
    const found = await stat(this.current.folder).catch(() => undefined);
    if (found?.isDirectory() === true) return;
    const problems = `  - core.dags_folder is ${this.#given}: there is no folder ${this.current.folder}. Create it, or set MILLRACE__CORE__DAGS_FOLDER`;
    throw new AppError("CONFIG_INVALID", { count: 1, problems });
  }

  async stop(): Promise<void> {
    await Promise.resolve();
  }
}
