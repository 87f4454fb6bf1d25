/** A line that never ends must not take all memory. Beyond what a return value may have by default. */
const MAX_LINE = 2 * 1024 * 1024;

/** Turns chunks of bytes into lines, without their ends; characters may be split between chunks. */
export class LineSplitter {
  readonly #decoder: InstanceType<typeof TextDecoder>;
  readonly #onLine: (line: string) => void;
  #rest = "";
  /** The last line so far; "" before the first. */
  lastLine = "";

  constructor(encoding: string, onLine: (line: string) => void) {
    this.#decoder = new TextDecoder(encoding);
    this.#onLine = onLine;
  }

  write(chunk: Uint8Array): void {
    this.#take(this.#decoder.decode(chunk, { stream: true }));
  }

  end(): void {
    this.#take(this.#decoder.decode());
    if (this.#rest !== "") this.#emit(this.#rest);
    this.#rest = "";
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#emit(line);
    if (this.#rest.length > MAX_LINE) {
      this.#emit(this.#rest);
      this.#rest = "";
    }
  }

  #emit(line: string): void {
    this.lastLine = line.trimEnd();
    this.#onLine(this.lastLine);
  }
}
