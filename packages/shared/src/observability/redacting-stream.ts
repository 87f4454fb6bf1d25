/** Where a process's lines go, cleaned of what its redactors know by then: a secret may be learnt long after the logger was made. */
export class RedactingStream {
  readonly #out: { write(line: string): void };
  readonly #redactors = new Set<{ redact(text: string): string }>();

  constructor(out: { write(line: string): void }) {
    this.#out = out;
  }

  hide(redactor: { redact(text: string): string }): void {
    this.#redactors.add(redactor);
  }

  write(line: string): void {
    let clean = line;
    for (const redactor of this.#redactors) clean = redactor.redact(clean);
    this.#out.write(clean);
  }
}
