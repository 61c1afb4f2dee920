// Recognises objects that the cluster creates by itself, such as the default ServiceAccount.
import { isInEveryNamespace, MANAGED_BY, MANAGED_BY_LABEL, TRANSACTION_LABEL } from "@janus/api";
import type { Named } from "./implicit-owners.ts";

/**
 * No user has put this object there: the cluster creates it in every namespace or because of something else, or
 * it is being deleted. Not so a claim of a volume: a StatefulSet leaves those behind with all that its Pods have written.
 */
export const isOfCluster = ({ apiVersion, kind, metadata }: Named): boolean => {
  const { uid, labels = {}, managedFields = [], deletionTimestamp } = metadata;
  const isLock = kind === "Lease" && labels[MANAGED_BY_LABEL] === MANAGED_BY && TRANSACTION_LABEL in labels;
  return (
    // Objects that are not stored, such as metrics, have no uid.
    uid === undefined ||
    deletionTimestamp !== undefined ||
    isLock ||
    isInEveryNamespace({ apiVersion, kind, metadata }) ||
    (kind !== "PersistentVolumeClaim" &&
      managedFields.length > 0 &&
      managedFields.every(({ manager }) => manager === "kube-controller-manager"))
  );
};
