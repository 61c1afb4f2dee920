// Bounds the actions that are executed at the same time: the ActionSets that begin later wait, the oldest first.

/** An ActionSet, as far as its turn is concerned. */
export interface Candidate {
  readonly uid: string;
  /** In the work queue. */
  readonly key: string;
  /** As of the API server, RFC 3339. */
  readonly createdAt: string;
  /** How many it has. */
  readonly actions: number;
}

export interface RunningActions {
  /** Whether it may begin now. One with more actions than there may be begins when no other runs. */
  readonly mayBegin: (candidate: Candidate) => boolean;
  /** It is executed from now on. */
  readonly begin: (candidate: Candidate) => void;
  /** It waits for its turn: it is woken then. */
  readonly wait: (candidate: Candidate) => void;
  /** It is neither executed nor waits any more. */
  readonly leave: (uid: string) => void;
}

const isBefore = (a: Candidate, b: Candidate): boolean =>
  a.createdAt === b.createdAt ? a.uid < b.uid : a.createdAt < b.createdAt;

/**
 * Guarantees: what waits is woken when something has ended; of those that wait, no later one begins before the oldest.
 * Assumes:    after a restart, those that run are told before others ask; if not, more run for a while.
 *
 * @param wake adds a key to the work queue
 */
export const runningActions = (most: number, wake: (key: string) => void): RunningActions => {
  const running = new Map<string, number>();
  const waiting = new Map<string, Candidate>();
  const oldest = (): Candidate | undefined =>
    [...waiting.values()].reduce<Candidate | undefined>(
      (first, one) => (first === undefined || isBefore(one, first) ? one : first),
      undefined,
    );
  const wakeNext = (): void => {
    const next = oldest();
    if (next !== undefined) wake(next.key);
  };
  return {
    mayBegin: (candidate) => {
      const used = [...running].reduce((sum, [uid, count]) => (uid === candidate.uid ? sum : sum + count), 0);
      const first = oldest();
      const isNext = first === undefined || first.uid === candidate.uid || isBefore(candidate, first);
      return isNext && (used === 0 || used + candidate.actions <= most);
    },
    begin: ({ uid, actions }) => {
      running.set(uid, actions);
      if (waiting.delete(uid)) wakeNext();
    },
    wait: (candidate) => void waiting.set(candidate.uid, candidate),
    leave: (uid) => {
      const wasThere = running.delete(uid);
      if (waiting.delete(uid) || wasThere) wakeNext();
    },
  };
};
