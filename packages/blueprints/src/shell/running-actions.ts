// Bounds the actions of a namespace that are executed at the same time: its ActionSets that begin later wait, the oldest first.

/** An ActionSet, as far as its turn is concerned. */
export interface Candidate {
  readonly uid: string;
  readonly namespace: string;
  /** The key in the work queue. */
  readonly key: string;
  /** The time of its creation by the API server, as RFC 3339. */
  readonly createdAt: string;
  /** The number of its actions. */
  readonly actions: number;
}

export interface RunningActions {
  /** Tells whether it may begin now. One with more actions than there may be begins when no other of its namespace runs. */
  readonly mayBegin: (candidate: Candidate) => boolean;
  /** Takes note that an ActionSet is executed from now on. */
  readonly begin: (candidate: Candidate) => void;
  /** Has an ActionSet wait for its turn, at which it is woken. */
  readonly wait: (candidate: Candidate) => void;
  /** Takes note that an ActionSet is neither executed nor waits any more. */
  readonly leave: (uid: string) => void;
}

const isBefore = (a: Candidate, b: Candidate): boolean =>
  a.createdAt === b.createdAt ? a.uid < b.uid : a.createdAt < b.createdAt;

/**
 * Guarantees: what waits is woken when something has ended; of those of a namespace that wait, no later one begins before the oldest.
 *             Namespaces do not wait for each other: a user whose ActionSets never end stops his own.
 * Assumes:    after a restart, those that run are told before others ask; if not, more run for a while.
 *
 * @param wake adds a key to the work queue
 */
export const runningActions = (most: number, wake: (key: string) => void): RunningActions => {
  const running = new Map<string, Candidate>();
  const waiting = new Map<string, Candidate>();
  const oldest = (namespace: string): Candidate | undefined =>
    [...waiting.values()]
      .filter((one) => one.namespace === namespace)
      .reduce<Candidate | undefined>(
        (first, one) => (first === undefined || isBefore(one, first) ? one : first),
        undefined,
      );
  const wakeNext = (namespace: string): void => {
    const next = oldest(namespace);
    if (next !== undefined) wake(next.key);
  };
  return {
    mayBegin: (candidate) => {
      const { uid, namespace } = candidate;
      const others = [...running.values()].filter((one) => one.namespace === namespace && one.uid !== uid);
      const used = others.reduce((sum, { actions }) => sum + actions, 0);
      const first = oldest(namespace);
      const isNext = first === undefined || first.uid === uid || isBefore(candidate, first);
      return isNext && (used === 0 || used + candidate.actions <= most);
    },
    begin: (candidate) => {
      running.set(candidate.uid, candidate);
      if (waiting.delete(candidate.uid)) wakeNext(candidate.namespace);
    },
    wait: (candidate) => void waiting.set(candidate.uid, candidate),
    leave: (uid) => {
      const left = running.get(uid) ?? waiting.get(uid);
      running.delete(uid);
      waiting.delete(uid);
      if (left !== undefined) wakeNext(left.namespace);
    },
  };
};
