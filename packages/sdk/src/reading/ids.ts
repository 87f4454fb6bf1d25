const ID = /^[\p{L}\p{N}_.-]+$/u;

/** The longest id of a DAG, a task or a group: what fits an indexed column in Postgres. */
const MAX_ID = 250;

/** What is wrong with an id, in words that follow it; undefined when it is right. */
export function wrongId(id: string): string | undefined {
  if (id.length > MAX_ID) return `is ${id.length} characters long; an id has at most ${MAX_ID}`;
  if (!ID.test(id)) return "is not a valid id: use letters, digits, underscores, dashes and dots only";
  return undefined;
}
