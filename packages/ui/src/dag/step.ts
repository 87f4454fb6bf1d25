/** A place in the grid; row -1 is the head with the runs. */
export interface Cell {
  readonly row: number;
  readonly column: number;
}

/** Where a key leads. Undefined: the key is none of the grid's. */
export function step(
  from: Cell,
  key: string,
  size: { readonly rows: number; readonly columns: number },
): Cell | undefined {
  const clamp = (row: number, column: number): Cell => ({
    row: Math.max(-1, Math.min(size.rows - 1, row)),
    column: Math.max(0, Math.min(size.columns - 1, column)),
  });
  switch (key) {
    case "ArrowUp":
      return clamp(from.row - 1, from.column);
    case "ArrowDown":
      return clamp(from.row + 1, from.column);
    case "ArrowLeft":
      return clamp(from.row, from.column - 1);
    case "ArrowRight":
      return clamp(from.row, from.column + 1);
    case "Home":
      return clamp(from.row, 0);
    case "End":
      return clamp(from.row, size.columns - 1);
    default:
      return undefined;
  }
}
