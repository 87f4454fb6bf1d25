// The values of a mapped task, read in pages while the handler uses them.
import type { LazyList } from "../authoring/refs.ts";
import type { Json } from "../spec/index.ts";
import { decodeInputs, decodeValue } from "../values/codec.ts";
import type { RunHost, RunRequest } from "./protocol.ts";

const PAGE = 500;

/** The arguments of a handler: those that were resolved, and lists that are still to be read. */
export function inputsOf(request: RunRequest, host: RunHost): Readonly<Record<string, Json>> {
  const inputs = decodeInputs(request.inputs);
  const { lazyInputs } = request;
  if (lazyInputs === undefined) return inputs;
  const lists = Object.entries(lazyInputs).map(([name, list]) => [name, new PagedList(request, list, host)] as const);
  // The handler is declared to take a LazyList there.
  return { ...inputs, ...(Object.fromEntries(lists) as unknown as Record<string, Json>) };
}

class PagedList implements LazyList<Json> {
  readonly length: number;
  readonly #taskId: string;
  readonly #request: RunRequest;
  readonly #host: RunHost;
  /** The last page that was read. */
  #page: { readonly offset: number; readonly values: readonly Json[] } | undefined;

  constructor(request: RunRequest, { taskId, length }: { taskId: string; length: number }, host: RunHost) {
    this.length = length;
    this.#taskId = taskId;
    this.#request = request;
    this.#host = host;
  }

  async at(index: number): Promise<Json | undefined> {
    const place = index < 0 ? this.length + index : index;
    if (!Number.isInteger(place) || place < 0 || place >= this.length) return undefined;
    const offset = place - (place % PAGE);
    const page = this.#page?.offset === offset ? this.#page.values : await this.#read(offset);
    return page[place - offset];
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Json> {
    for (let offset = 0; offset < this.length; offset += PAGE) yield* await this.#read(offset);
  }

  async toArray(): Promise<Json[]> {
    const all: Json[] = [];
    for await (const value of this) all.push(value);
    return all;
  }

  async #read(offset: number): Promise<readonly Json[]> {
    const { dagId, runId } = this.#request;
    const read = this.#host.getMappedXComs?.bind(this.#host);
    if (read === undefined) throw new Error("this worker is older than lists that are read in pages: upgrade it");
    const limit = Math.min(PAGE, this.length - offset);
    const page = await read({ dagId, runId, taskId: this.#taskId, offset, limit });
    const values = page.map((value) => decodeValue(value) as Json); // the handler's own types say what they are
    this.#page = { offset, values };
    return values;
  }
}
