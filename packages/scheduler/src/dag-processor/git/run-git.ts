// The `git` command, as the dag-processor uses it: it never asks at a terminal, is bounded in time, and neither its arguments
// nor what it says back show a password of the repository's URL.
import { spawn } from "node:child_process";
import { childEnvironment } from "@millrace/shared/config";
import { killTree } from "@millrace/shared/lifecycle";

export class GitError extends Error {}

export interface GitRemote {
  /** Its credentials, if it has any, reach git by its environment alone. */
  readonly url: string;
  /** A private key file; empty: what ssh itself finds, as an agent. */
  readonly sshKey: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The URL without user and password: what people are shown, and what stands in the arguments. */
export const shownUrl = (url: string): string => url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, "$1");

/** ssh and scp forms name a user that is no secret, and that git needs. */
const hasSecret = (url: string): boolean => /^https?:\/\/[^/@]*@/i.test(url);

const argumentOf = ({ url }: GitRemote): string => (hasSecret(url) ? shownUrl(url) : url);

/**
 * Runs git and gives back what it wrote.
 * @param more variables of the environment beside those that it inherits
 * @throws GitError with what git said, without secrets.
 */
export async function runGit(
  remote: GitRemote,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = spawn("git", ["-c", "gc.autoDetach=false", "-c", "advice.detachedHead=false", ...args], {
    env: { ...childEnvironment(), ...environmentOf(remote), ...more },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, said] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-8_000)));
  let ended = "";
  const end = (why: string) => {
    ended ||= why;
    if (child.pid !== undefined) void killTree(child.pid);
  };
  const stop = () => end("it was stopped");
  const timer = setTimeout(() => end(`it took longer than ${remote.timeoutMs / 1000} s`), remote.timeoutMs);
  remote.signal?.addEventListener("abort", stop, { once: true });
  if (remote.signal?.aborted === true) stop();
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", (error) => reject(new GitError(`git cannot be run: ${error.message}`)));
      child.once("close", resolve);
    });
    if (ended !== "") throw new GitError(`git ${args[0]}: ${ended}`);
    if (code !== 0) throw new GitError(withoutSecrets(said.trim() || `git ${args[0]} ended with ${code}`, remote.url));
    return out;
  } finally {
    clearTimeout(timer);
    remote.signal?.removeEventListener("abort", stop);
  }
}

/** With the argument of a fetch for `url`. */
export const fetchArguments = (remote: GitRemote, repository: string, refspec: string): readonly string[] => [
  `--git-dir=${repository}`,
  "fetch",
  "--depth=1",
  "--no-tags",
  "--force",
  "--no-write-fetch-head",
  "--quiet",
  "--",
  argumentOf(remote),
  refspec,
];

function environmentOf(remote: GitRemote): Record<string, string> {
  const ssh = remote.sshKey === "" ? "" : ` -i ${quoted(remote.sshKey)} -o IdentitiesOnly=yes`;
  return {
    GIT_TERMINAL_PROMPT: "0",
    GCM_INTERACTIVE: "never",
    LC_ALL: "C",
    // Without a key of our own the environment's command, or git's, stands.
    ...(ssh === "" ? {} : { GIT_SSH_COMMAND: `ssh -o BatchMode=yes${ssh}` }),
    ...(hasSecret(remote.url)
      ? {
          GIT_CONFIG_COUNT: "1",
          GIT_CONFIG_KEY_0: `url.${remote.url}.insteadOf`,
          GIT_CONFIG_VALUE_0: shownUrl(remote.url),
        }
      : {}),
  };
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** What git said, without what stands before the @ of a URL, and without each part of it on its own. */
export function withoutSecrets(said: string, url: string): string {
  const given = /^[a-z][a-z0-9+.-]*:\/\/([^/@]*)@/i.exec(url)?.[1] ?? "";
  const [user = "", ...rest] = given.split(":");
  const password = rest.join(":");
  // A token may stand in the place of the user.
  const secrets = [given, password, password === "" && /^https?:/i.test(url) ? user : ""].flatMap((secret) => [
    secret,
    decoded(secret),
  ]);
  let clean = said.replaceAll(/([a-z][a-z0-9+.-]*:\/\/)[^/@\s']*@/gi, "$1");
  for (const secret of secrets) if (secret.length > 2) clean = clean.replaceAll(secret, "***");
  return clean;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
