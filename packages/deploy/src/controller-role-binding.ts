// The ClusterRoleBinding of the controller.
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import { controllerLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";
import { serviceAccountNameOf, type ServiceAccountProps } from "./service-account.ts";

export interface ControllerRoleBindingProps extends NamespacedProps, ServiceAccountProps {}

/** Binds the ClusterRole to the controller's ServiceAccount, in every namespace: a Transaction may be in any. */
export class ControllerRoleBinding extends Construct {
  constructor(scope: Construct, id: string, props: ControllerRoleBindingProps = {}) {
    super(scope, id);
    new k8s.KubeClusterRoleBinding(this, "Resource", {
      metadata: { name: CONTROLLER_NAME, labels: controllerLabels },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: CONTROLLER_NAME },
      subjects: [
        {
          kind: "ServiceAccount",
          name: serviceAccountNameOf(props),
          namespace: props.namespace ?? SYSTEM_NAMESPACE,
        },
      ],
    });
  }
}
