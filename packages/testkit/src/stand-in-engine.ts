// A program in place of docker: it keeps containers as files beside itself, writes what it is given into `calls` and
// `env-seen`, and runs the command as a process. It knows two images, `IMAGE` and the one of the examples.
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROGRAM = `#!/usr/bin/env bash
cd "$(dirname "$0")"
printf '%s\\n' "$*" >> calls
if [ "$1" = rm ]; then
  [ -f "container-$3" ] && kill -9 "$(cat "container-$3")" && rm -f "container-$3"
  exit 0
fi
name=$4
for arg in "$@"; do [ "$before" = --env-file ] && cp "$arg" env-seen; before=$arg; done
while [ "$1" != IMAGE ] && [ "$1" != busybox:1.37 ]; do shift; done
shift
# As an engine does: the container is no child of the program that asks for it.
setsid "$@" &
echo $! > "container-$name"
wait $!
code=$?
rm -f "container-$name"
exit $code
`;

export interface StandInEngine extends AsyncDisposable {
  readonly folder: string;
  /** The program; it is called `docker`. */
  readonly path: string;
  /** What it was asked for, a line a call. */
  calls(): Promise<string[]>;
  /** Names of files in the folder, each with the pid of a container that runs. */
  containers(): Promise<string[]>;
}

export async function standInEngine(): Promise<StandInEngine> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-engine-"));
  const path = join(folder, "docker");
  await writeFile(path, PROGRAM);
  await chmod(path, 0o755);
  return {
    folder,
    path,
    calls: async () => (await readFile(join(folder, "calls"), "utf8")).trim().split("\n"),
    containers: async () => (await readdir(folder)).filter((name) => name.startsWith("container-")),
    [Symbol.asyncDispose]: async () => await rm(folder, { recursive: true, force: true }),
  };
}
