// Reads and writes the Lease of a leader.
import type { MergePatch, Create, Get } from "@janus/kube";
import { asObject, type KubeObject, leases, toMicroTime } from "@janus/types";

/** One term of leadership. No two acquisitions of a Lease have the same one. */
export interface Term {
  readonly holder: string;
  readonly transitions: number;
}

/** The content of a leader's Lease. https://kubernetes.io/docs/concepts/architecture/leases/ */
export interface LeaderRecord extends Term {
  /** Milliseconds; undefined if the Lease has none. */
  readonly duration: number | undefined;
  /** Changes with every renewal. */
  readonly resourceVersion: string;
}

/** An empty holder means that the Lease was released. client-go leaves the field out instead. */
export const leaderRecordOf = (lease: KubeObject): LeaderRecord => {
  const spec = asObject(lease["spec"]);
  const { holderIdentity, leaseTransitions, leaseDurationSeconds } = spec;
  return {
    holder: typeof holderIdentity === "string" ? holderIdentity : "",
    transitions: typeof leaseTransitions === "number" ? leaseTransitions : 0,
    duration: typeof leaseDurationSeconds === "number" ? leaseDurationSeconds * 1000 : undefined,
    resourceVersion: lease.metadata.resourceVersion ?? "",
  };
};

export const isOfTerm = (record: LeaderRecord, { holder, transitions }: Term): boolean =>
  record.holder === holder && record.transitions === transitions;

/** The namespace and name of the Lease. */
export interface LeasePlace {
  readonly namespace: string;
  readonly name: string;
}

/** Converts to seconds, rounded up. */
const wholeSeconds = (duration: number): number => Math.ceil(duration / 1000);

const to = (place: LeasePlace) => ({ resource: leases, purpose: "leader-election", ...place });

export const readLease = (place: LeasePlace): Get => ({ verb: "get", ...to(place) });

/**
 * Acquires the Lease for this term, if it is still as observed: `resourceVersion` is undefined if there was none.
 *
 * @param wall ms since the epoch, for display only: no decision is made on it
 */
export const claimLease = (
  place: LeasePlace,
  { holder, transitions }: Term,
  resourceVersion: string | undefined,
  duration: number,
  wall: number,
): Create | MergePatch => {
  const spec = {
    holderIdentity: holder,
    leaseDurationSeconds: wholeSeconds(duration),
    acquireTime: toMicroTime(wall),
    renewTime: toMicroTime(wall),
    leaseTransitions: transitions,
  };
  const { name, namespace } = place;
  return resourceVersion === undefined
    ? {
        verb: "create",
        resource: leases,
        purpose: "leader-election",
        namespace,
        body: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name, namespace }, spec },
      }
    : { verb: "mergePatch", ...to(place), body: { metadata: { resourceVersion }, spec } };
};

/** Renews the Lease only if no other client has written it since that version. Restores the duration. */
export const renewLease = (place: LeasePlace, resourceVersion: string, duration: number, wall: number): MergePatch => ({
  verb: "mergePatch",
  ...to(place),
  body: {
    metadata: { resourceVersion },
    spec: { leaseDurationSeconds: wholeSeconds(duration), renewTime: toMicroTime(wall) },
  },
});

/** Releases the Lease: it has no holder, so that others can acquire it at once; the count of terms is kept. */
export const releaseLease = (place: LeasePlace, resourceVersion: string, wall: number): MergePatch => ({
  verb: "mergePatch",
  ...to(place),
  body: {
    metadata: { resourceVersion },
    spec: { holderIdentity: "", leaseDurationSeconds: 1, renewTime: toMicroTime(wall) },
  },
});
