// The Namespace of the controller, with the restricted Pod Security Standard.
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { SYSTEM_NAMESPACE } from "@janus/api";
import { labels } from "./labels.ts";

export interface JanusNamespaceProps {
  /**
   * Name of the Namespace.
   * @default "janus-system"
   */
  readonly namespace?: string;
}

/**
 * The Namespace that the controller runs in.
 *
 * Guarantees: only Pods of the `restricted` Pod Security Standard are admitted to it, whatever cluster it is in.
 * Source:     https://kubernetes.io/docs/concepts/security/pod-security-admission/
 */
export class JanusNamespace extends Construct {
  constructor(scope: Construct, id: string, props: JanusNamespaceProps = {}) {
    super(scope, id);
    new k8s.KubeNamespace(this, "Resource", {
      metadata: {
        name: props.namespace ?? SYSTEM_NAMESPACE,
        labels: {
          ...labels,
          "pod-security.kubernetes.io/enforce": "restricted",
          // Applying a Deployment whose Pods would be rejected gives a warning, not only an empty ReplicaSet.
          "pod-security.kubernetes.io/warn": "restricted",
          "pod-security.kubernetes.io/audit": "restricted",
        },
      },
    });
  }
}
