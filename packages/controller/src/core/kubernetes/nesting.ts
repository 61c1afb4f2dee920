// Detects objects that are nested too deep to be processed.
import { MAX_DEPTH } from "@janus/api";

/**
 * Whether objects and lists are nested in each other deeper than Janus can handle. Found out level by level: what is too deep for
 * the stack is too deep to find that out by recursion.
 */
export const isTooDeep = (value: object): boolean => {
  let level: readonly object[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((one) =>
      Object.values(one).filter((inner: unknown): inner is object => typeof inner === "object" && inner !== null),
    );
  }
  return false;
};

export const TOO_DEEP = `is nested deeper than ${MAX_DEPTH} levels`;
