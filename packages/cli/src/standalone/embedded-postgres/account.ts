// Postgres refuses to run as root. Under root its processes run as `postgres` if the system has that user,
// else as `nobody`, which every Linux has; nothing is added to the system.
import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";

export interface Account {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
}

/** The account Postgres runs as, or undefined when we are not root and it simply runs as us. */
export async function postgresAccount(dataDir: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = parsePasswd(await readFile("/etc/passwd", "utf8"));
  // A data directory belongs to the account that made it, whatever users were added since.
  const owner = await stat(dataDir).then(
    (found) => found.uid,
    () => 0,
  );
  const account =
    accounts.find(({ uid }) => owner !== 0 && uid === owner) ??
    accounts.find(({ name }) => name === "postgres") ??
    accounts.find(({ name }) => name === "nobody");
  if (account === undefined)
    throw new Error("Postgres cannot run as root, and neither user postgres nor nobody exists");
  return account;
}

function parsePasswd(text: string): Account[] {
  return text.split("\n").flatMap((line) => {
    const [name = "", , uid = "", gid = ""] = line.split(":");
    return name === "" ? [] : [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}

/** Whether any user of the system may walk to `path` and read it; below /root usually not. */
export async function isReachableByAll(path: string): Promise<boolean> {
  for (let at = path; ; at = dirname(at)) {
    const { mode } = await stat(at);
    if ((mode & 0o001) === 0) return false;
    if (dirname(at) === at) return true;
  }
}
