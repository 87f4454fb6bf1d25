// What can be reached from each task of a DAG, at any distance. One bit for each pair: a chain of 10,000 tasks has
// 50 million pairs, which as sets of ids would take gigabytes and minutes.

export interface Reach {
  /** Every id, each after all that it reaches. */
  readonly order: readonly string[];
  has(from: string, to: string): boolean;
  /** What `from` reaches, itself left out. */
  of(from: string): string[];
  /** The values of all that `from` reaches, added up; `values` in the order of `order`. */
  sum(from: string, values: Float64Array): number;
}

/** @param next the direct steps from an id; the graph holds no cycle */
export function reach(ids: readonly string[], next: (id: string) => readonly string[]): Reach {
  const order = orderOf(ids, next);
  const index = new Map(order.map((id, i) => [id, i]));
  const words = Math.ceil(order.length / 32);
  const rows: Uint32Array[] = [];
  for (const id of order) {
    const row = new Uint32Array(words);
    for (const step of next(id)) {
      const at = index.get(step);
      if (at === undefined) continue;
      row[at >> 5] = (row[at >> 5] ?? 0) | (1 << (at & 31));
      const further = rows[at] as Uint32Array;
      for (let w = 0; w < words; w++) row[w] = (row[w] ?? 0) | (further[w] ?? 0);
    }
    rows.push(row);
  }
  return {
    order,
    has: (from, to) => {
      const [row, at] = [rows[index.get(from) ?? -1], index.get(to)];
      return row !== undefined && at !== undefined && (((row[at >> 5] ?? 0) >>> (at & 31)) & 1) === 1;
    },
    of: (from) => {
      const found: string[] = [];
      each(rows[index.get(from) ?? -1], (at) => found.push(order[at] as string));
      return found;
    },
    sum: (from, values) => {
      let sum = 0;
      each(rows[index.get(from) ?? -1], (at) => (sum += values[at] ?? 0));
      return sum;
    },
  };
}

/** The places of the bits that are set. */
function each(row: Uint32Array | undefined, visit: (at: number) => void): void {
  if (row === undefined) return;
  for (let w = 0; w < row.length; w++) {
    for (let rest = row[w] ?? 0; rest !== 0; rest &= rest - 1) visit(w * 32 + 31 - Math.clz32(rest & -rest));
  }
}

function orderOf(ids: readonly string[], next: (id: string) => readonly string[]): string[] {
  const done = new Set<string>();
  for (const start of ids) {
    const stack = [start];
    while (stack.length > 0) {
      const id = stack.at(-1) as string;
      const open = done.has(id) ? [] : next(id).filter((step) => !done.has(step));
      for (const step of open) stack.push(step);
      if (open.length > 0) continue;
      stack.pop();
      done.add(id);
    }
  }
  return [...done];
}
