// The log of one attempt: JSON lines in a file of its own, gathered for a moment and written together. Making a file costs
// more than running a small task, so an attempt that ends well at once and says nothing leaves none: readers know from its
// row all that would stand there. What cannot be written (a full disk) is said once in the worker's own log and never
// harms the attempt.
import { appendFile, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Json } from "@millrace/sdk/spec";
import { messageOf } from "../errors/index.ts";
import type { Logger } from "./logger.ts";

const GATHER_MS = 200;
const NOTES_WAIT_MS = 1_000;
const SETTLE_MS = 250;
const GATHER_CHARS = 65_536;
const MAX_LINE_CHARS = 100_000;
/** Of a line, beside what it says. */
const LINE_CHARS = 100;

/** Hides secrets in what is written. */
export interface LogRedactor {
  redact(text: string): string;
  redactValue(value: Json, name?: string): Json;
}

/** As it was said. Only what is written is made a line and masked: most attempts say nothing that is. */
interface Entry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly level: string;
  readonly logger: string;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Folders that this process has made or found; bounded, since runs come and go. */
const known = new Set<string>();

export class AttemptLog {
  readonly #path: string;
  readonly #log: Logger;
  readonly #redactor: LogRedactor | undefined;
  #entries: Entry[] = [];
  #chars = 0;
  #timer: NodeJS.Timeout | undefined;
  #notesTimer: NodeJS.Timeout | undefined;
  /** Nothing but notes so far. */
  #isSilent = true;
  #writing: Promise<void> = Promise.resolve();
  #hasFailed = false;

  /** @param redactor goes over each line before anything is cut off it */
  constructor(path: string, log: Logger, redactor?: LogRedactor) {
    this.#path = path;
    this.#log = log;
    this.#redactor = redactor;
  }

  write(level: string, logger: string, event: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#isSilent = false;
    this.#add(level, logger, event, fields);
    if (this.#chars > GATHER_CHARS) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  /** A line that the attempt's row tells as well: alone it makes no file, unless the attempt takes its time. */
  note(event: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#add("info", "millrace", event, fields);
    this.#notesTimer ??= setTimeout(() => this.#flush(), NOTES_WAIT_MS);
  }

  /** Waits until what was said can be read, so that whoever sees the end of a try sees its log; a slow disk does not hold it. */
  async settle(): Promise<void> {
    if (this.#isSilent) return;
    this.#flush();
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([this.#writing, new Promise((resolve) => (timer = setTimeout(resolve, SETTLE_MS)))]);
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    if (!this.#isSilent) this.#flush();
    clearTimeout(this.#notesTimer);
    await this.#writing;
  }

  #add(level: string, logger: string, event: string, fields: Readonly<Record<string, unknown>>): void {
    this.#entries.push({ at: Date.now(), level, logger, event, fields });
    this.#chars += event.length + LINE_CHARS;
  }

  #lineOf({ at, level, logger, event, fields }: Entry): string {
    const clean = this.#redactor?.redact(event) ?? event;
    const text =
      clean.length > MAX_LINE_CHARS ? `${clean.slice(0, MAX_LINE_CHARS)}… (${clean.length} characters)` : clean;
    const more = this.#redactor === undefined ? fields : this.#cleaned(fields, this.#redactor);
    return `${JSON.stringify({ timestamp: new Date(at).toISOString(), level, logger, event: text, ...more })}\n`;
  }

  #cleaned(fields: Readonly<Record<string, unknown>>, redactor: LogRedactor): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      // Fields come as JSON, over a channel that carries nothing else.
      Object.entries(fields).map(([name, value]) => [name, redactor.redactValue(value as Json, name)]),
    );
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#entries.length === 0) return;
    this.#isSilent = false;
    const text = this.#entries.map((entry) => this.#lineOf(entry)).join("");
    this.#entries = [];
    this.#chars = 0;
    this.#writing = this.#writing.then(async () => {
      try {
        const folder = dirname(this.#path);
        if (!known.has(folder)) {
          await mkdir(folder, { recursive: true });
          if (known.size > 10_000) known.clear();
          known.add(folder);
        }
        await appendFile(this.#path, text);
      } catch (error) {
        known.clear();
        if (!this.#hasFailed)
          this.#log.error({ path: this.#path, cause: messageOf(error) }, "a task log could not be written");
        this.#hasFailed = true;
      }
    });
  }
}
