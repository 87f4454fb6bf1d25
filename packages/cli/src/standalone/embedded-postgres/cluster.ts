// Makes a new Postgres cluster: initdb, a password of its own, and the database Millrace uses.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chown, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Account } from "./account.ts";
import type { PostgresBinaries } from "./binaries.ts";

export const USER = "millrace";

/** How a cluster's directory is named on the command line: see HERE below. */
export const HERE = process.platform === "linux" ? "/proc/self/cwd" : ".";
// Postgres runs in its data directory and is told so by a name that needs no walk from the root. We enter the
// directory before we give up root, hence the data may lie where that account could not go, as below /root.

export interface ClusterPlan {
  readonly dir: string;
  readonly database: string;
  readonly binaries: PostgresBinaries;
  readonly account: Account | undefined;
  readonly durable: boolean;
}

/** Creates `dir/data` unless it is there; returns the password. A half-made cluster is begun anew. */
export async function ensureCluster(plan: ClusterPlan): Promise<string> {
  const passwordFile = join(plan.dir, "password");
  const made = await readFile(passwordFile, "utf8").catch(() => undefined);
  if (made !== undefined) return made.trim();

  const data = join(plan.dir, "data");
  await rm(data, { recursive: true, force: true });
  await mkdir(data, { recursive: true, mode: 0o700 });
  await own(data, plan.account);
  const password = randomBytes(18).toString("base64url");
  const handover = join(tmpdir(), `millrace-initdb-${randomBytes(6).toString("hex")}`);
  await writeFile(handover, `${password}\n`, { mode: 0o600, flag: "wx" });
  await own(handover, plan.account);
  try {
    await run(plan, plan.binaries.initdb, [
      ...["-D", HERE, "--username", USER, "--auth", "scram-sha-256", "--pwfile", handover],
      ...["--encoding", "UTF8", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C"],
      ...(plan.durable ? [] : ["--no-sync"]),
    ]);
  } finally {
    await rm(handover);
  }
  if (plan.database !== "postgres") {
    const name = plan.database.replaceAll('"', '""');
    await run(plan, plan.binaries.postgres, ["--single", "-D", HERE, "postgres"], `create database "${name}"\n`);
  }
  // The password's final name is the mark of a finished cluster, so it comes last and all at once.
  await writeFile(`${passwordFile}.new`, password, { mode: 0o600 });
  await rename(`${passwordFile}.new`, passwordFile);
  return password;
}

async function own(path: string, account: Account | undefined): Promise<void> {
  if (account !== undefined) await chown(path, account.uid, account.gid);
}

function run(plan: ClusterPlan, command: string, args: readonly string[], input = ""): Promise<void> {
  const child = spawn(command, args, {
    cwd: join(plan.dir, "data"),
    env: postgresEnv(),
    ...(plan.account && { uid: plan.account.uid, gid: plan.account.gid }),
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  child.stderr.on("data", (chunk) => (output += String(chunk)));
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ended with ${code}:\n${output}`));
    });
  });
}

/** Fixed messages and no PG* variable of the caller, which would reach into the new server. */
export function postgresEnv(): Record<string, string> {
  return { LC_ALL: "C", TZ: "UTC", PATH: "/usr/local/bin:/usr/bin:/bin" };
}
