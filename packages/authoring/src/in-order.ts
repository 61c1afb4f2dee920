// Sorts items topologically, and reports the items that wait for each other.

/** The order that a list has to have: which items come before which. */
export interface Ordering<A> {
  /** A smaller one comes earlier, as far as the dependencies permit. */
  readonly rank: (item: A) => number;
  /** The items that have to come before this one. Those that are not in the list are ignored. */
  readonly after: (item: A) => readonly A[];
}

/**
 * Sorts topologically: the lowest rank that is free comes next, and of equals the first in the list.
 *
 * @returns `cycle`: items that wait for each other, so that there is no order.
 */
export const inOrder = <A>(
  items: readonly A[],
  { rank, after }: Ordering<A>,
): { readonly order: readonly A[] } | { readonly cycle: readonly A[] } => {
  const listed = new Set(items);
  const waiting = new Map(items.map((item) => [item, new Set(after(item).filter((other) => listed.has(other)))]));
  const byRank = items.toSorted((one, other) => rank(one) - rank(other));
  const order: A[] = [];
  while (waiting.size > 0) {
    const next = byRank.find((item) => waiting.get(item)?.size === 0);
    if (next === undefined) return { cycle: [...waiting.keys()] };
    order.push(next);
    waiting.delete(next);
    for (const others of waiting.values()) others.delete(next);
  }
  return { order };
};
