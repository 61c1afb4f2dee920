import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { controllerName, defaultNamespace } from "./defaults.ts";
import { controllerLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";

/** Who the controller is when it writes status, locks, snapshots and events. */
export class ControllerServiceAccount extends Construct {
  constructor(scope: Construct, id: string, props: NamespacedProps = {}) {
    super(scope, id);
    new k8s.KubeServiceAccount(this, "Resource", {
      metadata: { name: controllerName, namespace: props.namespace ?? defaultNamespace, labels: controllerLabels },
      // The controller's Pod asks for its token itself; no other Pod gets one by accident.
      automountServiceAccountToken: false,
    });
  }
}
