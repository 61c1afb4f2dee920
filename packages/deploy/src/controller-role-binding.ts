import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { controllerName, defaultNamespace } from "./defaults.ts";
import { controllerLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";
import { serviceAccountNameOf, type ServiceAccountProps } from "./service-account.ts";

export interface ControllerRoleBindingProps extends NamespacedProps, ServiceAccountProps {}

/** Binds the ClusterRole to the controller's ServiceAccount, in every namespace: a Transaction may be in any. */
export class ControllerRoleBinding extends Construct {
  constructor(scope: Construct, id: string, props: ControllerRoleBindingProps = {}) {
    super(scope, id);
    new k8s.KubeClusterRoleBinding(this, "Resource", {
      metadata: { name: controllerName, labels: controllerLabels },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: controllerName },
      subjects: [
        {
          kind: "ServiceAccount",
          name: serviceAccountNameOf(props),
          namespace: props.namespace ?? defaultNamespace,
        },
      ],
    });
  }
}
