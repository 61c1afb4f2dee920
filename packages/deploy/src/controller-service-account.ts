// The ServiceAccount of the controller.
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { SYSTEM_NAMESPACE } from "@janus/api";
import { controllerLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";
import { serviceAccountNameOf, type ServiceAccountProps } from "./service-account.ts";

export interface ControllerServiceAccountProps extends NamespacedProps, ServiceAccountProps {}

/** The identity of the controller when it writes status, locks, snapshots and events. */
export class ControllerServiceAccount extends Construct {
  constructor(scope: Construct, id: string, props: ControllerServiceAccountProps = {}) {
    super(scope, id);
    const { annotations = {} } = props.serviceAccount ?? {};
    new k8s.KubeServiceAccount(this, "Resource", {
      metadata: {
        name: serviceAccountNameOf(props),
        namespace: props.namespace ?? SYSTEM_NAMESPACE,
        labels: controllerLabels,
        ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      },
      // The controller's Pod mounts its token explicitly; no other Pod gets one by accident.
      automountServiceAccountToken: false,
    });
  }
}
