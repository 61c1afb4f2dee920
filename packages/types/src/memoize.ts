// Memoizes pure functions by the identity of their argument, or by a name.

/**
 * Memoizes by object identity. Every step decides on nearly the same objects as the one before; expensive
 * results are not computed again.
 *
 * Guarantees: pure: the result depends on the argument only, and is garbage-collected with it.
 * Assumes: the argument is never modified.
 */
export const memoized = <A extends object, Result>(compute: (of: A) => Result): ((of: A) => Result) => {
  const results = new WeakMap<A, { readonly result: Result }>();
  return (of) => {
    const known = results.get(of);
    if (known !== undefined) return known.result;
    const result = compute(of);
    results.set(of, { result });
    return result;
  };
};

/** The function, which computes nothing twice of what has the same name. Remembers for as long as it is in use itself. */
export const memoizedBy = <A, Result>(nameOf: (of: A) => unknown, compute: (of: A) => Result): ((of: A) => Result) => {
  const results = new Map<unknown, Result>();
  return (of) => {
    const name = nameOf(of);
    const known = results.get(name);
    if (known !== undefined || results.has(name)) return known as Result;
    const result = compute(of);
    results.set(name, result);
    return result;
  };
};

/** The function, which remembers of the latest texts what it has computed, as long as they have so many characters together. */
export const memoizedText = <Result>(most: number, compute: (text: string) => Result): ((text: string) => Result) => {
  /** Results in the order in which they were asked for last. */
  const results = new Map<string, { readonly result: Result }>();
  let length = 0;
  return (text) => {
    const former = results.get(text);
    const known = former ?? { result: compute(text) };
    if (former === undefined) length += text.length;
    results.delete(text);
    results.set(text, known);
    for (const oldest of results.keys()) {
      if (length <= most) break;
      results.delete(oldest);
      length -= oldest.length;
    }
    return known.result;
  };
};

/**
 * The list, or the last one if that has the very same elements: what was found out of that is not found out again.
 *
 * Guarantees: the elements are those that were asked for; which of two equal lists it is makes no difference but in time.
 */
export const lastEqual = <A>(): ((list: readonly A[]) => readonly A[]) => {
  let last: readonly A[] = [];
  return (list) => {
    if (list.length !== last.length || list.some((one, at) => one !== last[at])) last = list;
    return last;
  };
};
