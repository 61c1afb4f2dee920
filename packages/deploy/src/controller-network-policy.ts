// The NetworkPolicy of the controller's Pods.
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import { controllerLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";

export interface ControllerNetworkPolicyProps extends NamespacedProps {
  /**
   * Who may reach the controller's HTTP port.
   * @default every Pod in the cluster
   */
  readonly clients?: readonly k8s.NetworkPolicyPeer[];
  /**
   * Where the API server is, as CIDRs of its own addresses (not that of the Service `kubernetes`).
   * @default anywhere: a NetworkPolicy cannot select the API server, and its address cannot be discovered
   */
  readonly apiServerCidrs?: readonly string[];
  /**
   * Ports of the API server behind the Service `kubernetes`. An empty list is rejected: in a NetworkPolicy it would mean all.
   * @default 443, 6443 (kubeadm, kind, k3s, OpenShift), 8443 (minikube), 16443 (MicroK8s)
   */
  readonly apiServerPorts?: readonly number[];
}

export const defaultApiServerPorts: readonly number[] = [443, 6443, 8443, 16_443];

const port = (protocol: "TCP" | "UDP", port: string | number): k8s.NetworkPolicyPort => ({
  protocol,
  port: typeof port === "string" ? k8s.IntOrString.fromString(port) : k8s.IntOrString.fromNumber(port),
});

/** What one controller has otherwise than the others. */
interface OwnTraffic {
  /** Ports that the API server reaches: it has no address that is known. */
  readonly served?: readonly string[];
  /** Ports that they reach, wherever they are. */
  readonly reached?: readonly number[];
  /** Ports by which they reach each other. */
  readonly peers?: readonly string[];
}

/** Reachable on their HTTP port; they reach the API server, and DNS. */
export const networkPolicySpec = (
  matchLabels: Readonly<Record<string, string>>,
  props: ControllerNetworkPolicyProps,
  { served = [], reached = [], peers = [] }: OwnTraffic = {},
): k8s.NetworkPolicySpec => {
  const { clients = [], apiServerCidrs = [], apiServerPorts = defaultApiServerPorts } = props;
  if (apiServerPorts.length === 0)
    throw new Error("apiServerPorts: none is named. Name one, or leave it out for those that most clusters use.");
  return {
    podSelector: { matchLabels },
    policyTypes: ["Ingress", "Egress"],
    ingress: [
      { ports: [port("TCP", "http")], ...(clients.length === 0 ? {} : { from: [...clients] }) },
      ...served.map((name) => ({ ports: [port("TCP", name)] })),
    ],
    egress: [
      {
        ports: apiServerPorts.map((number) => port("TCP", number)),
        ...(apiServerCidrs.length === 0 ? {} : { to: apiServerCidrs.map((cidr) => ({ ipBlock: { cidr } })) }),
      },
      { ports: [port("UDP", 53), port("TCP", 53)] },
      ...(reached.length === 0 ? [] : [{ ports: reached.map((number) => port("TCP", number)) }]),
      ...peers.map((name) => ({ ports: [port("TCP", name)], to: [{ podSelector: { matchLabels } }] })),
    ],
  };
};

/**
 * NetworkPolicy ingress and egress of the controller Pods: their HTTP port, the API server, and DNS, which some clusters need to
 * resolve the API server.
 *
 * Assumes: a network plugin that supports NetworkPolicies, and lets the kubelet reach the Pods of its node. Others ignore it.
 * Source:  https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
export class ControllerNetworkPolicy extends Construct {
  constructor(scope: Construct, id: string, props: ControllerNetworkPolicyProps = {}) {
    super(scope, id);
    new k8s.KubeNetworkPolicy(this, "Resource", {
      metadata: { name: CONTROLLER_NAME, namespace: props.namespace ?? SYSTEM_NAMESPACE, labels: controllerLabels },
      spec: networkPolicySpec(controllerLabels, props),
    });
  }
}
