// The name that was probably meant by a misspelt one.

const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of Array.from(a).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(b).entries())
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)));
    row = next;
  }
  return row.at(-1) ?? 0;
};

/** The most letters that may differ. */
const MOST = 3;

/** Finds the nearest name; undefined: none is near. */
export const nearest = (name: string, names: readonly string[]): string | undefined => {
  const [first] = names
    .map((one) => [one, distance(name.toLowerCase(), one.toLowerCase())] as const)
    .toSorted(([, a], [, b]) => a - b);
  return first !== undefined && first[1] <= MOST ? first[0] : undefined;
};
