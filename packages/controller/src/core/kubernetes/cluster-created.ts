import { MANAGED_BY, MANAGED_BY_LABEL, TRANSACTION_LABEL } from "@janus/api";
import type { Named } from "./implicit-owners.ts";

/** In every namespace: https://kubernetes.io/docs/concepts/security/service-accounts/#default-service-accounts */
const EVERYWHERE: readonly string[] = ["ServiceAccount default", "ConfigMap kube-root-ca.crt"];

/** Nobody has put this anywhere: the cluster makes it by itself, or for the sake of something else; or it is going already. */
export const isOfCluster = ({ apiVersion, kind, metadata }: Named): boolean => {
  const { name, uid, labels = {}, managedFields = [], deletionTimestamp } = metadata;
  const isLock = kind === "Lease" && labels[MANAGED_BY_LABEL] === MANAGED_BY && TRANSACTION_LABEL in labels;
  return (
    // What is stored nowhere, such as metrics, has no uid.
    uid === undefined ||
    deletionTimestamp !== undefined ||
    isLock ||
    (apiVersion === "v1" && EVERYWHERE.includes(`${kind} ${name}`)) ||
    (managedFields.length > 0 && managedFields.every(({ manager }) => manager === "kube-controller-manager"))
  );
};
