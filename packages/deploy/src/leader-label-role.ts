// The Role that lets the leader label its own Pod.
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import { controllerLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";
import { serviceAccountNameOf, type ServiceAccountProps } from "./service-account.ts";

export interface LeaderLabelRoleProps extends NamespacedProps, ServiceAccountProps {}

const rules: readonly k8s.PolicyRule[] = [
  // The leader labels its own Pod. Pod names are generated, so `resourceNames` cannot restrict it; the namespace has no other Pods.
  { apiGroups: [""], resources: ["pods"], verbs: ["patch"] },
];

/** Lets the leader label its own Pod, for the Service. Only needed with `readiness: "any"`. */
export class LeaderLabelRole extends Construct {
  constructor(scope: Construct, id: string, props: LeaderLabelRoleProps = {}) {
    super(scope, id);
    const namespace = props.namespace ?? SYSTEM_NAMESPACE;
    const metadata = { name: CONTROLLER_NAME, namespace, labels: controllerLabels };
    new k8s.KubeRole(this, "Resource", { metadata, rules: [...rules] });
    new k8s.KubeRoleBinding(this, "Binding", {
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: CONTROLLER_NAME },
      subjects: [{ kind: "ServiceAccount", name: serviceAccountNameOf(props), namespace }],
    });
  }
}
