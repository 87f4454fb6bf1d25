/** The value below which `q` of the values lie; NaN for none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** `12.3 (11.9–14.0)`: median and range. */
export function spread(values: readonly number[], digits = 1): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const show = (value: number) => value.toFixed(digits);
  return values.length < 2 ? show(median(values)) : `${show(median(values))} (${show(low)}–${show(high)})`;
}
