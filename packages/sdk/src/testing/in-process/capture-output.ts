// What handlers write to the console while a DAG is tested in this process, known by the task that wrote it.
import { AsyncLocalStorage } from "node:async_hooks";

export interface OutputCapture<T> {
  /** Runs `work`; lines it writes to stdout or stderr, however late, are told with `owner`. */
  readonly within: <R>(owner: T, work: () => R) => R;
  /** Runs `work` with its writes going where they always go. */
  readonly outside: <R>(work: () => R) => R;
  readonly stop: () => void;
}

type Write = typeof process.stdout.write;

export function captureOutput<T>(
  tell: (owner: T, stream: "stdout" | "stderr", line: string) => void,
): OutputCapture<T> {
  const owners = new AsyncLocalStorage<T | undefined>();
  const outside = <R>(work: () => R): R => owners.run(undefined, work);
  const restore = (["stdout", "stderr"] as const).map((name) => {
    const stream = process[name];
    const original = stream.write.bind(stream);
    const partial = new Map<T, string>();
    const write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
      const owner = owners.getStore();
      // The arguments are those of the stream's own write.
      if (owner === undefined) return (original as (...args: unknown[]) => boolean)(chunk, ...rest);
      const text = (partial.get(owner) ?? "") + (typeof chunk === "string" ? chunk : Buffer.from(chunk).toString());
      const lines = text.split("\n");
      partial.set(owner, lines.pop() ?? "");
      outside(() => {
        for (const line of lines) tell(owner, name, line);
      });
      const done = rest.at(-1);
      if (typeof done === "function") process.nextTick(done);
      return true;
    };
    stream.write = write as Write;
    return () => {
      stream.write = original as Write;
      for (const [owner, line] of partial) if (line !== "") tell(owner, name, line);
    };
  });
  return {
    within: (owner, work) => owners.run(owner, work),
    outside,
    stop: () => {
      for (const undo of restore) undo();
    },
  };
}
