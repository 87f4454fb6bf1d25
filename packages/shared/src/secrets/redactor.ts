// What must not be read by those who may read logs: values that were given to it, in each form in which they are likely to
// be written, and values under names that say so. One for each process: a secret that one task read may be printed by the
// next one of the same child.
//
// A text is gone through once: each position is looked up by the next three characters, so that the cost hardly depends on
// how many secrets there are.
import type { Json } from "@millrace/sdk/spec";
import type { Config } from "../config/options.ts";
import type { Connection } from "./connection-forms.ts";
import { formsOf } from "./secret-forms.ts";

const CENSORED = "***";

/** Parts of names, in lower case. Airflow's list. */
const SENSITIVE = [
  "access_key",
  "access_token",
  "api_key",
  "apikey",
  "authorization",
  "connection_string",
  "passphrase",
  "passwd",
  "password",
  "private_key",
  "proxy",
  "proxy_password",
  "proxies",
  "secret",
  "token",
  "keyfile_dict",
  "service_account",
];

/** Words that stand in too many places to be hidden, even if somebody takes one for a password. */
const NEVER = new Set(["millrace", "airflow"]);

/** More than any installation has; the ones that were read longest ago are forgotten. */
const MAX_SECRETS = 20_000;
const MAX_DEPTH = 20;
const START = 3;

export interface RedactorOptions {
  readonly isOn: boolean;
  /** Shorter values are not hidden. */
  readonly minLength: number;
  /** Beside the built-in parts of names. */
  readonly names: readonly string[];
}

export class Redactor {
  readonly #isOn: boolean;
  readonly #minLength: number;
  readonly #names: readonly string[];
  /** Each secret with its forms, in the order in which they were last given. */
  readonly #secrets = new Map<string, readonly string[]>();
  /** Forms by their first three characters, the longest first. */
  readonly #byStart = new Map<string, string[]>();
  /** A first look at a position that is wrong rarely and costs nothing. */
  readonly #starts = new Uint8Array(65_536);

  constructor({ isOn, minLength, names }: RedactorOptions) {
    this.#isOn = isOn;
    this.#minLength = Math.max(minLength, START);
    this.#names = [...SENSITIVE, ...names.map((name) => name.toLowerCase())];
  }

  static of({ core }: Pick<Config, "core">): Redactor {
    return new Redactor({
      isOn: core.hide_sensitive_var_conn_fields,
      minLength: core.min_length_masked_secret,
      names: core.sensitive_var_conn_names,
    });
  }

  isSensitiveName(name: string): boolean {
    const lower = name.toLowerCase();
    return this.#isOn && this.#names.some((part) => lower.includes(part));
  }

  /** Hides a value from now on: a text, or every text within an object or list. */
  add(secret: unknown): void {
    if (!this.#isOn) return;
    if (typeof secret === "number" || typeof secret === "bigint") return this.#addText(String(secret));
    if (typeof secret === "string") return this.#addText(secret);
    if (typeof secret === "object" && secret !== null) for (const inner of Object.values(secret)) this.add(inner);
  }

  /** Its password, also one in an address that is its host, and of its extra what stands under names of secrets. */
  addConnection({ host = "", password, extra }: Pick<Connection, "host" | "password" | "extra">): void {
    if (password !== undefined) this.add(password);
    if (host.includes("@") && URL.canParse(host)) this.add(decoded(new URL(host).password));
    if (extra !== undefined) this.#addSensitive(extra, 0);
  }

  /** Its value, if its name says so; if the value is JSON, also what stands there under such names. */
  addVariable(key: string, value: string): void {
    if (!this.#isOn) return;
    const parsed = value.startsWith("{") || value.startsWith("[") ? parse(value) : undefined;
    if (this.isSensitiveName(key)) {
      this.add(value);
      if (parsed !== undefined) this.add(parsed);
    } else if (parsed !== undefined) this.#addSensitive(parsed, 0);
  }

  redact(text: string): string {
    if (this.#secrets.size === 0 || text.length < START) return text;
    let redacted = "";
    let copied = 0;
    const last = text.length - START;
    for (let at = 0; at <= last; at++) {
      if (this.#starts[slotAt(text, at)] === 0) continue;
      const form = this.#byStart.get(text.slice(at, at + START))?.find((one) => text.startsWith(one, at));
      if (form === undefined) continue;
      redacted += text.slice(copied, at) + CENSORED;
      copied = at + form.length;
      at = copied - 1;
    }
    return copied === 0 ? text : redacted + text.slice(copied);
  }

  /** Every text in it, keys too, and whatever stands under the name of a secret. */
  redactValue(value: Json, name?: string): Json {
    return this.#isOn ? this.#redactValue(value, name, 0) : value;
  }

  #redactValue(value: Json, name: string | undefined, depth: number): Json {
    const isSecret = name !== undefined && this.isSensitiveName(name);
    if (typeof value === "string") return isSecret && value !== "" ? CENSORED : this.redact(value);
    if (typeof value === "number") {
      const text = String(value);
      return this.#secrets.has(text) ? CENSORED : value;
    }
    if (typeof value !== "object" || value === null) return value;
    if (depth > MAX_DEPTH) return this.#redactDeep(value);
    if (Array.isArray(value)) {
      return (value as readonly Json[]).map((inner) => this.#redactValue(inner, name, depth + 1));
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        this.redact(key),
        this.#redactValue(inner, isSecret ? name : key, depth + 1),
      ]),
    );
  }

  /** Deeper than anybody looks: as text, which knows nothing of names. */
  #redactDeep(value: Json): Json {
    const text = JSON.stringify(value);
    const redacted = this.redact(text);
    return redacted === text ? value : CENSORED;
  }

  #addSensitive(value: unknown, depth: number): void {
    if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return;
    for (const [key, inner] of Object.entries(value)) {
      if (!Array.isArray(value) && this.isSensitiveName(key)) this.add(inner);
      else this.#addSensitive(inner, depth + 1);
    }
  }

  #addText(secret: string): void {
    if (secret.length < this.#minLength || secret.trim() === "" || NEVER.has(secret.toLowerCase())) return;
    const known = this.#secrets.get(secret);
    if (known !== undefined) {
      this.#secrets.delete(secret);
      this.#secrets.set(secret, known);
      return;
    }
    const forms = formsOf(secret, this.#minLength);
    this.#secrets.set(secret, forms);
    for (const form of forms) {
      const start = form.slice(0, START);
      const those = this.#byStart.get(start) ?? [];
      those.push(form);
      those.sort((a, b) => b.length - a.length);
      this.#byStart.set(start, those);
      this.#starts[slotAt(form, 0)] = 1;
    }
    if (this.#secrets.size > MAX_SECRETS) this.#forgetOldest();
  }

  #forgetOldest(): void {
    for (const [secret, forms] of this.#secrets) {
      this.#secrets.delete(secret);
      for (const form of forms) {
        const start = form.slice(0, START);
        const those = this.#byStart.get(start) ?? [];
        const at = those.indexOf(form);
        if (at >= 0) those.splice(at, 1);
        if (those.length === 0) this.#byStart.delete(start);
      }
      return;
    }
  }
}

function slotAt(text: string, at: number): number {
  return (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & 0xffff;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
