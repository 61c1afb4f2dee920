// Recognises the objects that Kubernetes itself makes in every namespace, and makes again if they are deleted.
import type { KubeObject } from "@janus/types";

/** https://kubernetes.io/docs/concepts/security/service-accounts/#default-service-accounts */
const EVERYWHERE: readonly string[] = ["ServiceAccount default", "ConfigMap kube-root-ca.crt"];

export const isInEveryNamespace = ({ apiVersion, kind, metadata: { name = "" } }: KubeObject): boolean =>
  apiVersion === "v1" && EVERYWHERE.includes(`${kind} ${name}`);
