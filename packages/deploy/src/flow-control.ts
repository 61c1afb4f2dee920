// The FlowSchema and the PriorityLevelConfiguration of the controller.
import { ApiObject } from "cdk8s";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import { controllerLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";
import { serviceAccountNameOf, type ServiceAccountProps } from "./service-account.ts";

export interface FlowControlProps extends NamespacedProps, ServiceAccountProps {}

/**
 * A priority level of the controller's own: other ServiceAccounts cannot delay its locks, and a thousand Transactions cannot delay
 * other ServiceAccounts. Leases have a flow of their own in it, so that no burst of other writes delays a renewal.
 *
 * Reads and writes of targets are not in it: they count for the impersonated ServiceAccount.
 *
 * Source: https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
 */
export class FlowControl extends Construct {
  constructor(scope: Construct, id: string, props: FlowControlProps = {}) {
    super(scope, id);
    new k8s.KubePriorityLevelConfiguration(this, "Level", {
      metadata: { name: CONTROLLER_NAME, labels: controllerLabels },
      spec: {
        type: "Limited",
        limited: {
          // The built-in levels have 245: this is 24 concurrent requests on an API server with the default limit of 600. A
          // controller reconciles 16 Transactions at once.
          nominalConcurrencyShares: 10,
          // While the controller is idle, which it mostly is, other levels may borrow half of it.
          lendablePercent: 50,
          limitResponse: { type: "Queue", queuing: { queues: 16, handSize: 4, queueLengthLimit: 100 } },
        },
      },
    });
    const account = { name: serviceAccountNameOf(props), namespace: props.namespace ?? SYSTEM_NAMESPACE };
    const schema = (id: string, name: string, precedence: number, apiGroups: string, resources: string) =>
      new ApiObject(this, id, {
        apiVersion: "flowcontrol.apiserver.k8s.io/v1",
        kind: "FlowSchema",
        metadata: { name, labels: controllerLabels },
        spec: {
          priorityLevelConfiguration: { name: CONTROLLER_NAME },
          matchingPrecedence: precedence,
          distinguisherMethod: { type: "ByNamespace" },
          rules: [
            {
              subjects: [{ kind: "ServiceAccount", serviceAccount: account }],
              resourceRules: [
                {
                  apiGroups: [apiGroups],
                  resources: [resources],
                  verbs: ["*"],
                  clusterScope: true,
                  namespaces: ["*"],
                },
              ],
            },
          ],
        },
      });
    // Both match before the built-in `service-accounts` (9000), and after all built-in ones of the system (up to 1000).
    schema("Leases", `${CONTROLLER_NAME}-leases`, 5000, "coordination.k8s.io", "leases");
    schema("Rest", CONTROLLER_NAME, 5001, "*", "*");
  }
}
