// Decides which rollback has to wait for the rollback of a later change.
import { type Change, deletes, groupOf, isBuiltIn, type Transaction } from "@janus/api";
import { isAdopted } from "../kubernetes/adopters.ts";
import { type Journal, stateOf } from "../state/journal.ts";
import { isEnabling } from "../state/target-resolution.ts";

/** Whether the change has made its target, so that its rollback deletes it. */
const isMade = ({ spec, status }: Transaction, index: number): boolean => {
  const state = status.items[index]?.state;
  return spec.changes[index]?.type !== "Delete" && state !== undefined && "before" in state && !state.before.existed;
};

/**
 * Whether the rollback of an earlier change has to wait for that of a later one, which was deferred: it would
 * remove what the later one needs (its Namespace, its CRD, permissions for its rollback; of a custom resource that is deleted,
 * whatever was made before it: the operator that is to remove its finalizer, and all that this needs); or a Service would get
 * other addresses and ports than those that the later one still has.
 */
export const dependsOn = (txn: Transaction, earlier: number, later: number): boolean => {
  const { changes } = txn.spec;
  const [first, second] = [changes[earlier], changes[later]];
  if (first === undefined || second === undefined) return false;
  // An operator may have to remove the finalizers of a custom resource.
  const isCustom = !isBuiltIn(groupOf(second.target.apiVersion));
  if (isCustom && isMade(txn, later) && isMade(txn, earlier)) return true;
  return isEnabling(first) || (first.target.kind === "Service" && second.target.kind === "Service");
};

/**
 * Whether an earlier change edits a CustomResourceDefinition in the group of what a later one deletes: under the schema that it has
 * set, the API server would drop fields which the object had before.
 */
const definesDeleted = (first: Change, second: Change): boolean =>
  first.target.kind === "CustomResourceDefinition" &&
  deletes(second) &&
  first.target.name.endsWith(`.${groupOf(second.target.apiVersion)}`);

/** Whether the schema that an object is created again with may be one that was restored just now. */
export const hasFormerSchema = ({ spec: { changes } }: Transaction, index: number): boolean => {
  const change = changes[index];
  return change !== undefined && changes.slice(0, index).some((earlier) => definesDeleted(earlier, change));
};

/**
 * Whether the rollback of an earlier change has to come before that of a later one, against their order: it deletes a workload that
 * would adopt what the later one creates again, and take it along; or it restores the schema of that.
 */
export const isBefore = (
  { metadata, spec, status }: Transaction,
  journal: Journal,
  earlier: number,
  later: number,
): boolean => {
  const [first, second] = [spec.changes[earlier], spec.changes[later]];
  if (first === undefined || second === undefined || !deletes(second) || earlier >= later) return false;
  const state = stateOf(status.items[earlier]?.state ?? { type: "untouched" }, earlier, journal);
  const { namespace = metadata.namespace } = first.target;
  if (state.type === "committed" && definesDeleted(first, second)) return true;
  return (
    state.type === "committed" &&
    (first.type === "Replace" || ((first.type === "Create" || first.type === "Apply") && !state.before.existed)) &&
    namespace === (second.target.namespace ?? metadata.namespace) &&
    isAdopted(first.target, second.target)
  );
};
