// Processes items concurrently, with a maximum number at a time.

/**
 * Runs over the items, at most so many at a time, and begins them in their order. Resolves when all that were begun are done.
 *
 * @param run - whether its lane goes on with the next item: the others do in any case
 */
export const inLanes = async <A>(
  items: IterableIterator<A>,
  lanes: number,
  run: (item: A) => Promise<boolean>,
): Promise<void> => {
  const lane = async (): Promise<void> => {
    for (const item of items) if (!(await run(item))) return;
  };
  await Promise.all(Array.from({ length: lanes }, lane));
};
