// Gives back the memory that a first sync has taken.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The pause after the last object, in ms: nothing waits for a collection then. */
const QUIET = 5_000;
/** The number of objects whose memory is worth a collection. */
const MANY = 1_000;

/**
 * Collects garbage once no object comes any more after many have: V8 keeps its heap as large as it has been until it is full
 * again, which takes hours where little changes.
 *
 * @param collect collects garbage; default: a full collection of V8
 * @returns a function that is to be called for each object
 */
export const releaseHeap = (collect: () => void = collectAll): (() => void) => {
  let since = 0;
  let planned: NodeJS.Timeout | undefined;
  return () => {
    since += 1;
    clearTimeout(planned);
    if (since < MANY) return;
    planned = setTimeout(() => {
      since = 0;
      collect();
    }, QUIET).unref();
  };
};

const collectAll = (): void => {
  setFlagsFromString("--expose-gc");
  const gc: unknown = runInNewContext("gc");
  if (typeof gc === "function") gc({ type: "major", flavor: "last-resort" });
};
