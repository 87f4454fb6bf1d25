// DAG code by its hash, fetched from Postgres once and kept as a file: any worker can run any version, and no folder is
// shared. A file is complete or not there, whoever is killed meanwhile.
import { access, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import type { Database } from "./database.ts";
import { newId } from "./new-id.ts";
import { readArtifact } from "./statements/read-artifact.ts";

export class ArtifactStore {
  readonly #db: Database;
  readonly #folder: string;
  readonly #paths = new Map<string, Promise<string>>();

  constructor(db: Database, folder: string) {
    this.#db = db;
    this.#folder = folder === "" ? join(tmpdir(), `millrace-artifacts-${userInfo().uid}`) : folder;
  }

  /** Path of the module; its source map lies beside it, with `.map` added. */
  path(hash: string): Promise<string> {
    let path = this.#paths.get(hash);
    if (path === undefined) {
      path = this.#fetch(hash);
      path.catch(() => this.#paths.delete(hash));
      this.#paths.set(hash, path);
    }
    return path;
  }

  async sourceMap(hash: string): Promise<string> {
    return await readFile(`${await this.path(hash)}.map`, "utf8");
  }

  async #fetch(hash: string): Promise<string> {
    const path = join(this.#folder, `${hash}.mjs`);
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
    const [row] = await this.#db.run(readArtifact, [hash]);
    if (row === undefined) throw new Error(`the code of this DAG version (artifact ${hash}) is not in the database`);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#put(`${path}.map`, row.sourceMap);
    await this.#put(path, row.code);
    return path;
  }

  async #put(path: string, text: string): Promise<void> {
    const draft = `${path}.${newId()}`;
    await writeFile(draft, text, { mode: 0o600 });
    await rename(draft, path);
  }
}
