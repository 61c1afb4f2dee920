import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { controllerFlags, type ControllerFlagsProps } from "./controller-flags.ts";
import { controllerName, defaultImage, defaultNamespace, httpPort } from "./defaults.ts";
import { controllerLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";

export interface ControllerDeploymentProps extends NamespacedProps, ControllerFlagsProps {
  /**
   * Image of the controller, with tag or digest. It must run as a numeric user other than 0, because the Pod insists on that and
   * leaves the number to the image (some clusters assign one themselves).
   * @default "ghcr.io/janus-project/janus:0.1.0"
   */
  readonly image?: string;
  /**
   * Names of the Secrets, in the controller's namespace, with which the image is pulled.
   * @default none
   */
  readonly imagePullSecrets?: readonly string[];
  /**
   * How many controllers run. One of them leads.
   * @default 2; 1 without leader election
   */
  readonly replicas?: number;
  /**
   * What one controller asks of its node, and may use at most.
   * @default requests of 100m CPU and 256Mi memory, a limit of 512Mi memory
   */
  readonly resources?: k8s.ResourceRequirements;
  /**
   * PriorityClass of the Pods.
   * @default the cluster's default
   */
  readonly priorityClassName?: string;
  /**
   * Labels of the nodes on which the controller may run.
   * @default { "kubernetes.io/os": "linux" }
   */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /**
   * Taints of nodes that do not keep the controller away.
   * @default none
   */
  readonly tolerations?: readonly k8s.Toleration[];
}

export const defaultNodeSelector = { "kubernetes.io/os": "linux" } as const;

const fieldRef = (name: string, fieldPath: string): k8s.EnvVar => ({ name, valueFrom: { fieldRef: { fieldPath } } });

const probe = (path: string): k8s.Probe => ({
  httpGet: { path, port: k8s.IntOrString.fromString("http") },
  periodSeconds: 10,
  timeoutSeconds: 5,
});

export /**
 * Measured as /proc shows it, with the compiled controller: resident 140 MiB when idle, 270 MiB at most while 500 Transactions of 5 changes
 * each, created at once, were carried out; 50 ms of CPU for each of them. Node takes half of the limit for its heap, as it had there.
 */
const defaultResources: k8s.ResourceRequirements = {
  requests: { cpu: k8s.Quantity.fromString("100m"), memory: k8s.Quantity.fromString("256Mi") },
  // No CPU limit: a throttled controller renews its locks late.
  limits: { memory: k8s.Quantity.fromString("512Mi") },
};

/** On different nodes and in different zones, where there are several; a Pod is not kept waiting for them. */
const spread = (topologyKey: string): k8s.TopologySpreadConstraint => ({
  topologyKey,
  maxSkew: 1,
  whenUnsatisfiable: "ScheduleAnyway",
  labelSelector: { matchLabels: controllerLabels },
  // Else the Pods of the version before count, too, and those of the new one end up together.
  matchLabelKeys: ["pod-template-hash"],
});

/** How Pods are replaced, so that it comes to an end: where only the leader is ready, nobody waits for the others. */
const strategyOf = ({ readiness, leaderElection }: ControllerDeploymentProps): k8s.DeploymentStrategy => {
  if (leaderElection?.enabled === false) return { type: "Recreate" };
  const [maxUnavailable, maxSurge] =
    readiness === "leader"
      ? [k8s.IntOrString.fromString("100%"), k8s.IntOrString.fromNumber(0)]
      : [k8s.IntOrString.fromNumber(0), k8s.IntOrString.fromNumber(1)];
  return { type: "RollingUpdate", rollingUpdate: { maxUnavailable, maxSurge } };
};

const replicasOf = ({ replicas, leaderElection }: ControllerDeploymentProps): number => {
  if (leaderElection?.enabled !== false) return replicas ?? 2;
  if (replicas === undefined || replicas === 1) return 1;
  throw new Error(
    `leaderElection.enabled is false and replicas is ${replicas}: without leader election there can be only one controller. Leave one of the two out.`,
  );
};

/**
 * The controller itself: two Pods, of which one leads, that meet the `restricted` Pod Security Standard and write to no disk.
 *
 * Source: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
 */
export class ControllerDeployment extends Construct {
  constructor(scope: Construct, id: string, props: ControllerDeploymentProps = {}) {
    super(scope, id);
    const container: k8s.Container = {
      name: "controller",
      image: props.image ?? defaultImage,
      args: [...controllerFlags(props)],
      env: [fieldRef("POD_NAME", "metadata.name"), fieldRef("POD_NAMESPACE", "metadata.namespace")],
      ports: [{ name: "http", containerPort: httpPort }],
      livenessProbe: probe("/healthz"),
      readinessProbe: probe("/readyz"),
      resources: props.resources ?? defaultResources,
      securityContext: {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
        readOnlyRootFilesystem: true,
      },
    };
    const scraped = {
      "prometheus.io/scrape": "true",
      "prometheus.io/port": `${httpPort}`,
      "prometheus.io/path": "/metrics",
    };
    const { imagePullSecrets = [], tolerations = [], priorityClassName } = props;
    new k8s.KubeDeployment(this, "Resource", {
      metadata: { name: controllerName, namespace: props.namespace ?? defaultNamespace, labels: controllerLabels },
      spec: {
        replicas: replicasOf(props),
        strategy: strategyOf(props),
        selector: { matchLabels: controllerLabels },
        template: {
          metadata: { labels: controllerLabels, ...(props.metricsAuth === true ? {} : { annotations: scraped }) },
          spec: {
            serviceAccountName: controllerName,
            automountServiceAccountToken: true,
            enableServiceLinks: false,
            ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
            ...(priorityClassName === undefined ? {} : { priorityClassName }),
            nodeSelector: props.nodeSelector ?? defaultNodeSelector,
            ...(tolerations.length === 0 ? {} : { tolerations: [...tolerations] }),
            topologySpreadConstraints: [spread("kubernetes.io/hostname"), spread("topology.kubernetes.io/zone")],
            securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
            containers: [container],
          },
        },
      },
    });
  }
}
