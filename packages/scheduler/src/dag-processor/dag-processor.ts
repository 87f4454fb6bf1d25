// The service that keeps the database equal to the DAG folder. A look finds files that are new, changed or gone; readers
// read them, a few at once. A file that hangs holds one reader, never the look.
import { dirname, join } from "node:path";
import type { Config } from "@millrace/shared/config";
import { Job, putFileVersion, type Database } from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { SignalGate, systemClock, type Clock, type Service } from "@millrace/shared/lifecycle";
import type { Logger } from "@millrace/shared/observability";
import type { Broker } from "@millrace/shared/queue";
import { KnownSecrets, Secrets } from "@millrace/shared/secrets";
import type { DagSource, DagTree } from "./folder/dag-source.ts";
import { FolderSource } from "./folder/folder-source.ts";
import { FolderWatch } from "./folder/folder-watch.ts";
import { stampInputs } from "./folder/input-stamps.ts";
import { listDagFiles } from "./folder/list-dag-files.ts";
import { GitSource } from "./git/git-source.ts";
import { readAgain, remember, type KnownFile, type ReadAgain } from "./known-file.ts";
import { readDagFile, type FileRead } from "./read-dag-file.ts";
import { ReaderPool } from "./reader-pool.ts";
import { BUNDLE, recordFiles, recordSourceProblem } from "./record/record-failure.ts";
import { fillPlan, plansToFill } from "./timetable/fill-plan.ts";
import { backfillsWithoutDates, planBackfillDates } from "./timetable/plan-backfills.ts";

export interface DagProcessorOptions {
  readonly db: Database;
  /** Told of every change, so that schedulers look for due runs. */
  readonly broker?: Pick<Broker, "wake">;
  readonly config: Pick<Config, "core" | "dag_processor" | "dags_git" | "secrets">;
  readonly log: Logger;
  readonly clock?: Clock;
}

export interface Processed {
  /** How many files the folder has that may hold DAGs. */
  readonly files: number;
  /** What came of those that were read, by file. */
  readonly read: ReadonlyMap<string, FileRead["result"]>;
  /** DAGs whose file is gone. */
  readonly stale: readonly string[];
}

/** How often inputs are compared with what was read. Costs one stat a file. */
const POLL_MS = 1_000;
/** After a failure that is not the file's, as of the database. */
const RETRY_MS = 5_000;

export class DagProcessor implements Service {
  readonly #options: DagProcessorOptions;
  readonly #clock: Clock;
  readonly #source: DagSource;
  readonly #job: Job;
  readonly #secrets: KnownSecrets;
  readonly #readers: ReaderPool;
  readonly #watch: FolderWatch;
  readonly #gate: SignalGate;
  readonly #known = new Map<string, KnownFile>();
  readonly #retryAt = new Map<string, number>();
  /** What was listed last. */
  #tree: DagTree | undefined;
  #toldProblem: string | undefined | null = null;
  #files: readonly string[] = [];
  #folders: readonly string[] = [];
  #listedAt = -Infinity;
  #folderChanged = true;
  #dagsChanged = false;
  #stopping = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(options: DagProcessorOptions) {
    const { db, config, log, clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#readers = new ReaderPool(config.dag_processor.parsing_processes);
    this.#gate = new SignalGate(clock);
    this.#watch = new FolderWatch({ clock, log }, () => {
      this.#folderChanged = true;
      this.#gate.set();
    });
    this.#secrets = new KnownSecrets(new Secrets({ db, config, log }), log);
    const onChange = () => this.#gate.set();
    this.#source =
      config.dags_git.url === ""
        ? new FolderSource(config.core.dags_folder)
        : new GitSource({ db, config: config.dags_git, log, clock, onChange });
    const heartbeatSeconds = config.dag_processor.job_heartbeat_sec;
    this.#job = new Job({ db, type: "DagProcessorJob", heartbeatSeconds, log, clock });
  }

  /** @throws AppError CONFIG_INVALID when there is no DAG folder. A repository that cannot be reached is waited for. */
  async start(): Promise<void> {
    if (this.#loop !== undefined) return;
    if (this.#options.config.dags_git.url === "") await this.#source.refresh(true);
    this.#stopping = new AbortController();
    await this.#job.start();
    this.#loop = this.#run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#gate.set();
    await this.#source.stop();
    await this.#loop;
    this.#loop = undefined;
    await this.#readers.idle();
    this.#watch.close();
    await this.#job.stop();
  }

  /** Brings the database up to date once, without a service: reads what is new since the last time, or all. */
  async processOnce(): Promise<Processed> {
    try {
      await this.#source.refresh(true);
    } finally {
      await this.#tellProblem();
    }
    const read = new Map<string, FileRead["result"]>();
    this.#listedAt = -Infinity;
    const stale = await this.#look(read);
    await this.#readers.idle();
    // Ids that others took or freed meanwhile, and the schedules of what was read.
    await this.#look(read);
    await this.#readers.idle();
    return { files: this.#files.length, read, stale };
  }

  /** What keeps the files from being fetched stands among the errors of files. */
  async #tellProblem(): Promise<void> {
    const { problem } = this.#source;
    if (problem === this.#toldProblem) return;
    await recordSourceProblem(this.#options.db, problem);
    this.#toldProblem = problem;
  }

  /** Another commit is another folder: each file is bundled, and read and recorded if its code is another. */
  #switchTo(tree: DagTree): DagTree {
    this.#tree = tree;
    for (const [file, { hash, kind }] of this.#known) {
      if (hash === undefined || kind === "refused" || kind === "failed") this.#known.delete(file);
      else this.#known.set(file, { hash, kind, stamps: new Map(), tooFresh: true });
    }
    this.#folderChanged = true;
    return tree;
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#look();
        this.#watchInputs();
      } catch (error) {
        this.#options.log.error(
          { cause: messageOf(error) },
          "the DAG folder could not be looked at; it is tried again",
        );
      }
      await this.#gate.wait(POLL_MS);
    }
  }

  /** Finds what has to be read and gives it to the readers; gives back the dags whose file is gone. */
  async #look(read?: Map<string, FileRead["result"]>): Promise<readonly string[]> {
    await this.#source.refresh(false);
    await this.#tellProblem();
    const { current } = this.#source;
    if (current === undefined) return [];
    const tree = this.#tree?.folder === current.folder ? this.#tree : this.#switchTo(current);
    const [folderChanged, dagsChanged] = [this.#folderChanged, this.#dagsChanged];
    this.#folderChanged = this.#dagsChanged = false;
    const isDue = this.#clock.now() >= this.#listedAt + this.#options.config.dag_processor.refresh_interval * 1000;
    const stale = folderChanged || isDue ? await this.#list(tree) : [];
    const look = { folderChanged, dagsChanged, packages: isDue };
    for (const file of this.#files) {
      if (this.#readers.has(file) || this.#clock.now() < (this.#retryAt.get(file) ?? -Infinity)) continue;
      const again = await readAgain(this.#known.get(file), look);
      if (again !== "no") this.#readers.add(file, async () => await this.#read(tree, file, again, read));
    }
    await this.#askTimetables();
    return stale;
  }

  /** Schedules that are code of a file are asked beside the reading of files: one that hangs holds one reader. */
  async #askTimetables(): Promise<void> {
    const deps = { ...this.#options, signal: this.#stopping.signal };
    for (const plan of await plansToFill(deps))
      this.#askTimetable(plan.dagId, "timetable", async () => await fillPlan(deps, plan));
    for (const backfill of await backfillsWithoutDates(deps))
      this.#askTimetable(backfill.dagId, "backfill", async () => await planBackfillDates(deps, backfill));
  }

  #askTimetable(dagId: string, about: string, ask: () => Promise<string | undefined>): void {
    const { log } = this.#options;
    this.#readers.add(`${about} of ${dagId}`, async () => {
      if (this.#stopping.signal.aborted) return;
      try {
        const cause = await ask();
        if (cause === undefined) this.#options.broker?.wake([{ dagRunId: null, taskIds: null }]);
        else log.warn({ dag: dagId, cause }, "a timetable failed");
      } catch (error) {
        log.error({ dag: dagId, cause: messageOf(error) }, "a timetable could not be asked; it is tried again");
      }
    });
  }

  async #list(tree: DagTree): Promise<readonly string[]> {
    const { files, folders } = await listDagFiles(tree.folder);
    const stale = await recordFiles(this.#options.db, files);
    this.#listedAt = this.#clock.now();
    this.#files = files;
    this.#folders = folders;
    for (const file of this.#known.keys()) if (!files.includes(file)) this.#known.delete(file);
    if (stale.length > 0) {
      this.#options.log.info({ dags: stale }, "DAGs are no longer in the folder");
      this.#noteChange();
    }
    return stale;
  }

  async #read(
    tree: DagTree,
    file: string,
    again: ReadAgain,
    read: Map<string, FileRead["result"]> | undefined,
  ): Promise<void> {
    if (this.#stopping.signal.aborted || tree !== this.#tree) return;
    const { db, config, log } = this.#options;
    const path = join(tree.folder, file);
    const known = this.#known.get(file);
    const startedAt = Date.now();
    try {
      const before = await stampInputs([path, ...(known?.stamps.keys() ?? [])]);
      const knownHash = again === "if its code changed" ? known?.hash : undefined;
      const outcome = await readDagFile(
        { db, config, log, signal: this.#stopping.signal, redact: (text) => this.#redact(text) },
        file,
        tree,
        knownHash,
      );
      const { result } = outcome;
      if (result.kind === "stopped") return;
      if (tree.version !== null) await db.run(putFileVersion, [BUNDLE, file, tree.version]);
      // RACE: the files are at another commit by now, at which this one has not been read.
      if (tree === this.#tree) this.#known.set(file, await remember(path, outcome, before, startedAt, known));
      else this.#known.delete(file);
      this.#retryAt.delete(file);
      // RACE: a file that was deleted meanwhile has just been brought back; the next look lists again and retires it.
      if (!this.#files.includes(file)) {
        this.#known.delete(file);
        this.#folderChanged = true;
      }
      if (result.kind === "same") return;
      read?.set(file, result);
      this.#tell(file, result);
      if (result.changed) this.#noteChange();
      if (result.kind === "recorded" && result.changed) await this.#askTimetables();
    } catch (error) {
      this.#retryAt.set(file, this.#clock.now() + RETRY_MS);
      log.error({ file, cause: messageOf(error) }, "a DAG file could not be read or recorded; it is tried again");
    }
  }

  /** A place of secrets that cannot be read leaves its own unknown: the author learns of the error all the same. */
  async #redact(text: string): Promise<string> {
    try {
      return (await this.#secrets.redactor()).redact(text);
    } catch (error) {
      this.#options.log.warn(
        { cause: messageOf(error) },
        "an error of a DAG file may show a secret: they cannot be read",
      );
      return text;
    }
  }

  #tell(file: string, result: Exclude<FileRead["result"], { readonly kind: "same" | "stopped" }>): void {
    const { log } = this.#options;
    if (result.kind !== "recorded") {
      if (result.changed) log.warn({ file, cause: result.message }, "a DAG file has an error");
      return;
    }
    for (const { dagId, versionNumber } of result.versions)
      log.info({ file, dagId, versionNumber }, "a DAG has a new version");
    if (result.stale.length > 0) log.info({ file, dags: result.stale }, "DAGs are no longer in their file");
  }

  #noteChange(): void {
    this.#dagsChanged = true;
    this.#options.broker?.wake([{ dagRunId: null, taskIds: null }]);
  }

  #watchInputs(): void {
    const inputs = [...this.#known.values()].flatMap((known) => [...known.stamps.keys()]);
    const outside = inputs.filter((path) => !path.includes("/node_modules/")).map((path) => dirname(path));
    const isNew = this.#watch.set(new Set([...this.#folders, ...outside]));
    // A file may have come into a new folder before that was watched.
    if (isNew) {
      this.#folderChanged = true;
      this.#gate.set();
    }
  }
}
