// Does things in their order, also where what they need has to be awaited; where nothing has to be, at once.

export type InOrder = <A>(needed: A | Promise<A>, run: (needed: A) => void) => void;

/**
 * Returns a queue whose waits run at the same time: all of them last no longer than the longest.
 *
 * Assumes: each needed value comes; none rejects.
 */
export const inOrder = (): InOrder => {
  let waiting = 0;
  let last = Promise.resolve();
  const wait = async <A>(needed: A | Promise<A>, before: Promise<void>, run: (needed: A) => void): Promise<void> => {
    const value = await needed;
    await before;
    waiting -= 1;
    run(value);
  };
  return (needed, run) => {
    if (waiting === 0 && !(needed instanceof Promise)) return run(needed);
    waiting += 1;
    last = wait(needed, last, run);
  };
};
