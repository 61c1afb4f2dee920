import type { Transaction } from "@janus/api";
import { isAdopted } from "../kubernetes/adopters.ts";
import { type Journal, stateOf } from "../state/journal.ts";
import { isEnabling } from "../state/target-resolution.ts";

/**
 * Whether the rollback of an earlier change has to wait for that of a later one, which was deferred: it would
 * remove what the later one needs (its Namespace, its CRD, permissions for its rollback); or a Service would get
 * other addresses and ports than those that the later one still has.
 */
export const dependsOn = ({ spec }: Transaction, earlier: number, later: number): boolean => {
  const [first, second] = [spec.changes[earlier], spec.changes[later]];
  if (first === undefined || second === undefined) return false;
  return isEnabling(first) || (first.target.kind === "Service" && second.target.kind === "Service");
};

/**
 * Whether the rollback of an earlier change has to come before that of a later one, against their order: it deletes a workload that
 * would adopt what the later one creates again, and take it along.
 */
export const isBefore = (
  { metadata, spec, status }: Transaction,
  journal: Journal,
  earlier: number,
  later: number,
): boolean => {
  const [first, second] = [spec.changes[earlier], spec.changes[later]];
  if (first === undefined || second?.type !== "Delete" || earlier >= later) return false;
  const state = stateOf(status.items[earlier]?.state ?? { type: "untouched" }, earlier, journal);
  const { namespace = metadata.namespace } = first.target;
  return (
    (first.type === "Create" || first.type === "Apply") &&
    state.type === "committed" &&
    !state.before.existed &&
    namespace === (second.target.namespace ?? metadata.namespace) &&
    isAdopted(first.target, second.target)
  );
};
