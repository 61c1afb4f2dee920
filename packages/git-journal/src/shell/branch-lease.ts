// The Lease of a branch: it keeps two replicas apart while there is anything to write.
import type { Api } from "@janus/kube";
import { leader, type Leader, type LeaderTiming, type ObservedLease } from "@janus/runtime/parts";
import { branchLeaseName } from "../core/members.ts";

export interface BranchLease {
  /** Asks for the Lease until it is ours. */
  readonly acquire: () => void;
  readonly release: () => Promise<void>;
  /** The s that a push may last. The Lease is renewed meanwhile; if it is lost, {@link signal} ends the push. */
  readonly mayPushFor: () => number;
  /** The signal of the term that has begun: aborted when it is over. */
  readonly signal: () => AbortSignal;
}

export interface LeaseContext {
  readonly api: Api;
  readonly namespace: string;
  /** The holder: this process, and the one before that had its work directory. */
  readonly identity: string;
  readonly timing: LeaderTiming;
  /** Returns the Lease as a watch has last seen it. */
  readonly seen?: () => ObservedLease | undefined;
  readonly tell: (is: "none" | "awaited" | "anothers" | "held") => void;
  /** Called once for each `acquire` that finds another holder. */
  readonly onHeldByAnother: () => void;
}

/** The longest push, in s: the deadline of git. */
const LONGEST_PUSH = 120;

export const branchLease = (
  key: string,
  { api, namespace, identity, timing, seen, tell, onHeldByAnother }: LeaseContext,
): BranchLease => {
  let candidate: Leader | undefined;
  let term = new AbortController();

  const begin = async (own: Leader): Promise<void> => {
    const elected = await own.elected;
    if (elected !== undefined && candidate === own) {
      term = new AbortController();
      tell("held");
    }
    await own.over;
    if (candidate !== own) return;
    term.abort();
    candidate = undefined;
    tell("none");
  };

  const acquire = (): void => {
    if (candidate !== undefined) return;
    let isCounted = false;
    const own = leader(api, {
      identity,
      timing,
      place: { namespace, name: branchLeaseName(key) },
      observed: seen?.(),
      observe: (state, input) => {
        const isAnothers = state.type === "standby" && input.type === "read" && state.observed?.record !== undefined;
        if (!isAnothers || isCounted) return;
        isCounted = true;
        onHeldByAnother();
        tell("anothers");
      },
    });
    candidate = own;
    tell("awaited");
    void begin(own);
  };

  return {
    acquire,
    release: async () => {
      const own = candidate;
      candidate = undefined;
      term.abort();
      await own?.leave();
      tell("none");
    },
    mayPushFor: () => ((candidate?.left() ?? 0) > 0 ? LONGEST_PUSH : 0),
    signal: () => term.signal,
  };
};
