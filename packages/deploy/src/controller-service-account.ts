import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { controllerName, defaultNamespace } from "./defaults.ts";
import { controllerLabels } from "./labels.ts";

export interface ControllerServiceAccountProps {
  /**
   * Namespace of the controller.
   * @default "janus-system"
   */
  readonly namespace?: string;
}

/** Who the controller is when it writes status, locks, snapshots and events. */
export class ControllerServiceAccount extends Construct {
  constructor(scope: Construct, id: string, props: ControllerServiceAccountProps = {}) {
    super(scope, id);
    new k8s.KubeServiceAccount(this, "Resource", {
      metadata: { name: controllerName, namespace: props.namespace ?? defaultNamespace, labels: controllerLabels },
      // The controller's Pod asks for its token itself; no other Pod gets one by accident.
      automountServiceAccountToken: false,
    });
  }
}
