// What each figure is measured with: medians, times, and lines of the table.
export const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? 0;

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

/** In ms. */
export const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

export const ms = (time: number): string => `${time.toFixed(0)} ms`;
export const seconds = (time: number): string => `${(time / 1000).toFixed(1)} s`;

/** How often each is there, the most frequent first. */
export const counted = (names: readonly string[]): string => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  return sorted.length === 0 ? "none" : sorted.map(([name, count]) => `${count} ${name}`).join(", ");
};

/** One figure: what it is, what was measured, and what it should be at most. */
export interface Figure {
  readonly what: string;
  readonly measured: string;
  readonly most: string;
}
