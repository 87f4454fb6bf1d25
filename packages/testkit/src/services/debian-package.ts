// Programs of Debian or Ubuntu without installing them: the packages are downloaded with apt's own signature check and
// unpacked into a cache folder. Works for any user and changes nothing of the system.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface WantedProgram {
  /** Of its folder in the cache. */
  readonly name: string;
  readonly packages: readonly string[];
  /** Where it lies in them: `usr/bin/redis-server`. */
  readonly path: string;
}

export interface UnpackedProgram {
  readonly command: string;
  readonly libraryPath: string;
}

/** Undefined on a system without apt. */
export async function debianProgram(
  wanted: WantedProgram,
  say: (line: string) => void,
  cache = cacheFolder(),
): Promise<UnpackedProgram | undefined> {
  if (!existsSync("/usr/bin/apt-get") || !existsSync("/usr/bin/dpkg")) return undefined;
  const root = join(cache, `${wanted.name}-${await release()}-${process.arch}`);
  if (!existsSync(root)) {
    say(`downloading the distribution's ${wanted.packages[0]}, once`);
    await unpack(root, wanted.packages);
  }
  const program = { command: join(root, wanted.path), libraryPath: (await libraryFolders(root)).join(":") };
  await run(program.command, ["--version"], { env: { LD_LIBRARY_PATH: program.libraryPath } });
  return program;
}

export const debianRedis = async (say: (line: string) => void, cache?: string): Promise<UnpackedProgram | undefined> =>
  await debianProgram(
    { name: "redis", packages: ["redis-server", "redis-tools"], path: "usr/bin/redis-server" },
    say,
    cache,
  );

function cacheFolder(): string {
  const xdg = process.env["XDG_CACHE_HOME"];
  return join(xdg === undefined || xdg === "" ? join(homedir(), ".cache") : xdg, "millrace");
}

async function release(): Promise<string> {
  const text = await readFile("/etc/os-release", "utf8");
  return /^VERSION_CODENAME=(.+)$/m.exec(text)?.[1] ?? "unknown";
}

async function unpack(root: string, packages: readonly string[]): Promise<void> {
  const draft = `${root}.${process.pid}`;
  await mkdir(join(draft, "root"), { recursive: true });
  try {
    // The system's package lists may be missing (containers) or older than the mirror: then fetch our own.
    await download(draft, packages, []).catch(() => downloadWithOwnLists(draft, packages));
    for (const name of await readdir(draft)) {
      if (name.endsWith(".deb")) await run("dpkg", ["-x", join(draft, name), join(draft, "root")]);
    }
    // RACE: of two runs that unpack at once, the second finds the folder there, with the same content.
    await rename(join(draft, "root"), root).catch((error: unknown) => {
      if (!existsSync(root)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function downloadWithOwnLists(draft: string, packages: readonly string[]): Promise<void> {
  const lists = join(draft, "lists");
  await mkdir(join(lists, "partial"), { recursive: true });
  await mkdir(join(draft, "cache", "archives", "partial"), { recursive: true });
  const own = ["-o", `Dir::State::lists=${lists}`, "-o", `Dir::Cache=${join(draft, "cache")}`];
  await apt(draft, own, ["update"]);
  await download(draft, packages, own);
}

async function download(draft: string, packages: readonly string[], options: readonly string[]): Promise<void> {
  // A simulated install names exactly the libraries this system lacks.
  const plan = await apt(draft, options, ["install", "--simulate", "--no-install-recommends", ...packages]);
  const missing = [...plan.matchAll(/^Inst (\S+)/gm)].map((match) => match[1] ?? "");
  await apt(draft, options, ["download", ...new Set([...packages, ...missing])]);
}

async function apt(cwd: string, options: readonly string[], args: readonly string[]): Promise<string> {
  // apt would download as a user that cannot write here.
  const sandbox = ["-o", "APT::Sandbox::User=root"];
  const env = { ...process.env, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" };
  const { stdout } = await run("apt-get", [...sandbox, ...options, ...args], { cwd, env, timeout: 180_000 });
  return stdout;
}

async function libraryFolders(root: string): Promise<string[]> {
  const bases = ["lib", "usr/lib"].map((name) => join(root, name)).filter((path) => existsSync(path));
  const nested = await Promise.all(
    bases.map(async (base) =>
      (await readdir(base, { withFileTypes: true }))
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(base, name)),
    ),
  );
  return [...bases, ...nested.flat()];
}
