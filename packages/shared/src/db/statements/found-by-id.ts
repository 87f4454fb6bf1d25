/**
 * The state of a row that is found by its id, for a statement to compare. Written so that no partial index of live states
 * can serve it: Postgres takes such an index for nearly empty until it has counted again, and a statement about ten rows
 * would read all ten thousand that are in the state.
 */
export const stateOf = (row: string): string => `coalesce(${row}.state, 'none')`;
