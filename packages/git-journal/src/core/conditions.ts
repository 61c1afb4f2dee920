// Makes conditions of what became of an object, as kstatus and people read them.
import { cut } from "@janus/api";
import type { Condition } from "../api/status.ts";

/** The state of an object of the journal's kinds, for its conditions. */
export type Readiness =
  | { readonly type: "ready"; readonly reason: string; readonly message: string }
  | { readonly type: "progressing"; readonly reason: string; readonly message: string }
  /** A failure that `lasts` stays until somebody changes something; others are tried again. */
  | { readonly type: "failed"; readonly reason: string; readonly message: string; readonly lasts: boolean };

/** The most bytes of a message. */
const LONGEST = 2_048;

type Stated = Pick<Condition, "type" | "status" | "reason" | "message">;

/**
 * States conditions by kstatus, where Reconciling and Stalled are there only while they are true:
 * https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md#conditions
 */
const stated = ({ type, ...because }: Readiness): readonly Stated[] => {
  const { reason, message } = because;
  const condition = (type: string, status: Condition["status"]): Stated => ({ type, status, reason, message });
  switch (type) {
    case "ready":
      return [condition("Ready", "True")];
    case "progressing":
      return [condition("Ready", "Unknown"), condition("Reconciling", "True")];
    case "failed": {
      const isStalled = "lasts" in because && because.lasts;
      return [condition("Ready", "False"), condition(isStalled ? "Stalled" : "Reconciling", "True")];
    }
  }
};

export interface Observed {
  readonly generation: number;
  /** The time, as RFC 3339. */
  readonly now: string;
}

/**
 * Makes the conditions of an object.
 *
 * Guarantees: a condition whose status stays keeps the time of its last transition.
 *
 * @param conflict the message of a destination that writes to a folder which is another's
 */
export const conditionsOf = (
  readiness: Readiness,
  previous: readonly Condition[],
  { generation, now }: Observed,
  conflict?: string,
): readonly Condition[] => {
  const all: readonly Stated[] = [
    ...stated(readiness),
    ...(conflict === undefined
      ? []
      : [{ type: "OwnershipConflict", status: "True" as const, reason: "OwnershipConflict", message: conflict }]),
  ];
  return all.map((condition) => {
    const before = previous.find(({ type }) => type === condition.type);
    return {
      ...condition,
      message: cut(condition.message, LONGEST),
      lastTransitionTime: before?.status === condition.status ? before.lastTransitionTime : now,
      observedGeneration: generation,
    };
  });
};
