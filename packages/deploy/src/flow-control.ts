// The FlowSchemas and the PriorityLevelConfiguration of the controller.
import { ApiObject } from "cdk8s";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import { controllerLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";
import { serviceAccountNameOf, type ServiceAccountProps } from "./service-account.ts";

export interface FlowControlProps extends NamespacedProps, ServiceAccountProps {}

/** Whose requests they are. */
export interface Flow {
  /** Of the level and its FlowSchemas. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly account: { readonly name: string; readonly namespace: string };
}

/**
 * A priority level of a controller's own: other ServiceAccounts cannot delay its locks and journals, and a thousand objects of its
 * kind cannot delay other ServiceAccounts. Leases have a flow of their own in it, so that no burst of other writes delays a renewal.
 *
 * What it reads and writes as the user's ServiceAccount is not in it: that counts for the impersonated one.
 *
 * Source: https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
 */
export const flowControl = (scope: Construct, { name, labels, account }: Flow): void => {
  new k8s.KubePriorityLevelConfiguration(scope, "Level", {
    metadata: { name, labels: { ...labels } },
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
  const schema = (id: string, called: string, precedence: number, apiGroups: string, resources: string) =>
    new ApiObject(scope, id, {
      apiVersion: "flowcontrol.apiserver.k8s.io/v1",
      kind: "FlowSchema",
      metadata: { name: called, labels: { ...labels } },
      spec: {
        priorityLevelConfiguration: { name },
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
  schema("Leases", `${name}-leases`, 5000, "coordination.k8s.io", "leases");
  schema("Rest", name, 5001, "*", "*");
};

/** The priority level of the Transaction controller; see {@link flowControl}. */
export class FlowControl extends Construct {
  constructor(scope: Construct, id: string, props: FlowControlProps = {}) {
    super(scope, id);
    const account = { name: serviceAccountNameOf(props), namespace: props.namespace ?? SYSTEM_NAMESPACE };
    flowControl(this, { name: CONTROLLER_NAME, labels: controllerLabels, account });
  }
}
