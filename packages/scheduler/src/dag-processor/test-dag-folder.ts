// A DAG folder of its own for a test, taken away after it.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

export interface TestDagFolder {
  readonly path: string;
  write(file: string, text: string): Promise<string>;
  remove(file: string): Promise<void>;
}

export async function testDagFolder(files: Readonly<Record<string, string>> = {}): Promise<TestDagFolder> {
  const path = await mkdtemp(join(tmpdir(), "millrace-dags-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  const write = async (file: string, text: string): Promise<string> => {
    const target = join(path, file);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
    return target;
  };
  for (const [file, text] of Object.entries(files)) await write(file, text);
  return { path, write, remove: (file) => rm(join(path, file)) };
}

/** The text of a DAG file with one task for each name, without edges. */
export const dagFile = (dagId: string, options = "{}", tasks: readonly string[] = ["hello"]): string =>
  [
    `import { Dag } from "@millrace/sdk";`,
    `const dag = new Dag(${JSON.stringify(dagId)}, ${options});`,
    ...tasks.map((task) => `dag.task("${task}", () => "${task} ran")();`),
    "",
  ].join("\n");
