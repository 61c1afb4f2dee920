import { FINALIZER, type Phase } from "@janus/api";
import { isTerminal } from "@janus/controller";
import type { KubeObject } from "@janus/kube";

/** A Transaction as it was last seen. */
export interface ObservedStatus {
  readonly phase: Phase;
  /** Of its status. */
  readonly version: number;
  readonly message: string;
  readonly hasFinalizer: boolean;
}

interface Status {
  readonly phase?: Phase;
  readonly version?: number;
  readonly conditions?: readonly { readonly type: string; readonly message: string }[];
}

export const observedStatusOf = (object: KubeObject): ObservedStatus => {
  const { phase = "Pending", version = 0, conditions = [] } = (object["status"] ?? {}) as Status;
  return {
    phase,
    version,
    message: conditions.find(({ type }) => type === "Ready")?.message ?? "",
    hasFinalizer: (object.metadata.finalizers ?? []).includes(FINALIZER),
  };
};

/** It has Failed, and has something to roll back yet: it is tried again. */
export const isUnsettled = ({ phase, message }: ObservedStatus): boolean =>
  phase === "Failed" && !message.startsWith("no changes were applied");

export const isOver = (status: ObservedStatus): boolean =>
  isTerminal(status.phase) && !status.hasFinalizer && !isUnsettled(status);

const ORDER: readonly Phase[] = ["Pending", "Preparing", "Prepared", "Committing", "RollingBack"];

/** What must not happen between two looks; undefined: it is all right. */
export const illegal = (before: ObservedStatus, now: ObservedStatus): string | undefined => {
  if (now.version < before.version) return `its version went back from ${before.version} to ${now.version}`;
  if (before.phase === now.phase) return undefined;
  const hasEnded = before.phase === "Committed" || before.phase === "RolledBack";
  const goesBack = ORDER.indexOf(now.phase) !== -1 && ORDER.indexOf(now.phase) < ORDER.indexOf(before.phase);
  const wakes = before.phase === "Failed" && now.phase !== "RollingBack" && now.phase !== "RolledBack";
  return hasEnded || goesBack || wakes ? `it went from ${before.phase} to ${now.phase}` : undefined;
};
