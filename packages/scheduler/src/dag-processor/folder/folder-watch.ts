// Tells of changes in a set of folders soon after they ended. A hint: where the system watches nothing, or loses an event,
// the poll of the dag-processor finds the change a second later. Folders are watched one by one, because a recursive
// watch would take in every node_modules.
import { watch, type FSWatcher } from "node:fs";
import { messageOf } from "@millrace/shared/errors";
import type { Clock, Timer } from "@millrace/shared/lifecycle";
import type { Logger } from "@millrace/shared/observability";

/** An editor writes a file in several steps. */
const QUIET_MS = 40;
const LONGEST_MS = 400;

export class FolderWatch {
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #deps: { readonly clock: Clock; readonly log: Logger };
  readonly #onChange: () => void;
  #timer: Timer | undefined;
  #firstEvent = 0;

  constructor(deps: { readonly clock: Clock; readonly log: Logger }, onChange: () => void) {
    this.#deps = deps;
    this.#onChange = onChange;
  }

  /** Watches these folders and no others; true when one is new. */
  set(folders: ReadonlySet<string>): boolean {
    for (const folder of this.#watchers.keys()) if (!folders.has(folder)) this.#drop(folder);
    const added = [...folders].filter((folder) => !this.#watchers.has(folder));
    for (const folder of added) this.#add(folder);
    return added.some((folder) => this.#watchers.has(folder));
  }

  close(): void {
    this.#timer?.cancel();
    for (const folder of this.#watchers.keys()) this.#drop(folder);
  }

  #add(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#event());
      watcher.on("error", () => this.#drop(folder));
      this.#watchers.set(folder, watcher);
    } catch (error) {
      this.#deps.log.debug({ folder, cause: messageOf(error) }, "a folder cannot be watched and is polled only");
    }
  }

  #drop(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }

  #event(): void {
    const { clock } = this.#deps;
    if (this.#timer === undefined) this.#firstEvent = clock.now();
    this.#timer?.cancel();
    const left = Math.max(0, this.#firstEvent + LONGEST_MS - clock.now());
    this.#timer = clock.after(Math.min(QUIET_MS, left), () => {
      this.#timer = undefined;
      this.#onChange();
    });
  }
}
