// DAG files of a git repository: a ref of a remote, asked for at an interval, in the background. What was got last stays in
// use while the remote cannot be reached or the ref is gone, and `problem` says why.
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Config } from "@millrace/shared/config";
import { bundleVersion, putBundleVersion, type Database } from "@millrace/shared/db";
import { AppError, messageOf } from "@millrace/shared/errors";
import type { Clock } from "@millrace/shared/lifecycle";
import type { Logger } from "@millrace/shared/observability";
import type { DagSource, DagTree } from "../folder/dag-source.ts";
import { BUNDLE } from "../record/record-failure.ts";
import { fetchTree, knownCommit, type GitTree } from "./fetch-tree.ts";
import { shownUrl } from "./run-git.ts";

export interface GitSourceDeps {
  readonly db: Database;
  readonly config: Config["dags_git"];
  readonly log: Logger;
  readonly clock: Clock;
  /** Called when there is another commit, or another problem. */
  readonly onChange: () => void;
}

/** Or a branch that looks like one, which is fetched as any other. */
const SHORT_COMMIT = /^[0-9a-f]{4,39}$/;

export class GitSource implements DagSource {
  readonly #deps: GitSourceDeps;
  readonly #stopping = new AbortController();
  readonly #tree: GitTree;
  #current: DagTree | undefined;
  #problem: string | undefined;
  #askedAt = -Infinity;
  #asking: Promise<void> | undefined;

  constructor(deps: GitSourceDeps) {
    const { url, ref, folder, ssh_key: sshKey, timeout } = deps.config;
    this.#deps = deps;
    const signal = this.#stopping.signal;
    this.#tree = { url, ref, folder: resolve(folder), sshKey, timeoutMs: timeout * 1000, signal };
  }

  get current(): DagTree | undefined {
    return this.#current;
  }
  get problem(): string | undefined {
    return this.#problem;
  }

  /** @throws AppError DAGS_GIT_FAILED when it is asked `now` and there is nothing to read. */
  async refresh(now: boolean): Promise<void> {
    const { clock, config } = this.#deps;
    if (now || clock.now() >= this.#askedAt + config.interval * 1000) this.#asking ??= this.#ask();
    if (!now) return;
    await this.#asking;
    if (this.#current === undefined) throw new AppError("DAGS_GIT_FAILED", { cause: this.#problem ?? "" });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#asking;
  }

  async #ask(): Promise<void> {
    const { db, log, clock, onChange } = this.#deps;
    this.#askedAt = clock.now();
    const before = { commit: this.#current?.version, problem: this.#problem };
    try {
      const commit = await fetchTree(this.#tree);
      const tree = await this.#treeOf(commit);
      await db.run(putBundleVersion, [BUNDLE, commit]);
      this.#current = tree;
      this.#problem = undefined;
      if (before.commit !== commit && (await hasSubmodules(this.#tree.folder, commit))) {
        log.warn(
          { commit },
          "the repository has submodules, which are not fetched: what DAG files import of them is missing",
        );
      }
      if (before.commit !== commit) log.info({ commit, ref: this.#tree.ref }, "DAG files are at another commit");
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.#current ??= await this.#whatIsKnown();
      this.#problem = this.#tell(messageOf(error));
      if (this.#problem !== before.problem) log.error({ cause: this.#problem }, "DAG files could not be fetched");
    } finally {
      this.#asking = undefined;
    }
    if (before.commit !== this.#current?.version || before.problem !== this.#problem) onChange();
  }

  async #treeOf(commit: string): Promise<DagTree> {
    const { subdirectory } = this.#deps.config;
    const { folder, url, ref } = this.#tree;
    const path = join(folder, "trees", commit, subdirectory);
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() !== true) {
      throw new Error(`commit ${commit.slice(0, 12)} of ${ref} in ${shownUrl(url)} has no folder ${subdirectory}`);
    }
    return { folder: path, shownAs: join(folder, "current", subdirectory), version: commit };
  }

  /** After a start without the remote: what is here, unless another process has read something else since. */
  async #whatIsKnown(): Promise<DagTree | undefined> {
    try {
      const commit = await knownCommit(this.#tree.folder);
      if (commit === undefined) return undefined;
      const [read] = await this.#deps.db.run(bundleVersion, [BUNDLE]);
      return read?.version === commit ? await this.#treeOf(commit) : undefined;
    } catch (error) {
      this.#deps.log.warn({ cause: messageOf(error) }, "DAG files of an earlier fetch cannot be used");
      return undefined;
    }
  }

  #tell(cause: string): string {
    const { url, ref } = this.#tree;
    const commit = this.#current?.version;
    const stays =
      commit == null ? "There are no DAG files yet" : `The DAGs stay as they are at commit ${commit.slice(0, 12)}`;
    const advice = SHORT_COMMIT.test(ref)
      ? "A remote knows a commit by all of its characters, not by its first ones.\n"
      : "";
    return `Ref ${ref} of ${shownUrl(url)} could not be fetched:\n${cause}\n${advice}${stays}; it is tried again every ${this.#deps.config.interval} s.`;
  }
}

const hasSubmodules = async (folder: string, commit: string): Promise<boolean> =>
  await stat(join(folder, "trees", commit, ".gitmodules")).then(
    () => true,
    () => false,
  );
