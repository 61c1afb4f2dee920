// The Pod of a controller, whichever it is: image, probes, resources, scheduling and restrictions.
import { k8s } from "cdk8s-plus-30";
import { defaultImage, httpPort } from "./defaults.ts";

type Labels = Readonly<Record<string, string>>;

export interface ControllerPodProps {
  /**
   * Image of the controller, with tag or digest. It must have a numeric user other than 0, because the Pod requires
   * that but does not set one (some clusters assign it themselves).
   * @default a name that cannot be pulled: there is no public image
   */
  readonly image?: string;
  /**
   * When the kubelet pulls the image.
   * @default "IfNotPresent"
   */
  readonly imagePullPolicy?: "Always" | "IfNotPresent" | "Never";
  /**
   * Names of the Secrets, in the controller's namespace, with which the image is pulled.
   * @default none
   */
  readonly imagePullSecrets?: readonly string[];
  /**
   * Resource requests and limits of a controller.
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
   * Tolerations of the Pods.
   * @default none
   */
  readonly tolerations?: readonly k8s.Toleration[];
  /**
   * Affinity of the Pods to nodes and to other Pods.
   * @default none
   */
  readonly affinity?: k8s.Affinity;
  /**
   * How the Pods are spread.
   * @default over nodes and zones, where there are several
   */
  readonly topologySpreadConstraints?: readonly k8s.TopologySpreadConstraint[];
  /**
   * More labels of the Pods. Those by which they are selected cannot be overridden.
   * @default none
   */
  readonly podLabels?: Readonly<Record<string, string>>;
  /**
   * More annotations of the Pods.
   * @default only those with which Prometheus finds /metrics
   */
  readonly podAnnotations?: Readonly<Record<string, string>>;
  /**
   * More environment variables of the controller, such as HTTPS_PROXY. POD_NAME and POD_NAMESPACE are rejected.
   * @default none
   */
  readonly extraEnv?: readonly k8s.EnvVar[];
  /**
   * Require authentication and authorization for `/metrics`.
   * @default false
   */
  readonly metricsAuth?: boolean;
}

export const defaultNodeSelector = { "kubernetes.io/os": "linux" } as const;

const fieldRef = (name: string, fieldPath: string): k8s.EnvVar => ({
  name,
  valueFrom: { fieldRef: { fieldPath } },
});

const probe = (path: string): k8s.Probe => ({
  httpGet: { path, port: k8s.IntOrString.fromString("http") },
  periodSeconds: 10,
  timeoutSeconds: 5,
});

/**
 * Measured in /proc, with the compiled controller: resident 140 MiB when idle, at most 270 MiB with 500 Transactions of 5 changes
 * each, created at once; 50 ms of CPU for each of them. Node uses half of the limit for its heap, as in the measurement.
 */
export const defaultResources: k8s.ResourceRequirements = {
  requests: { cpu: k8s.Quantity.fromString("100m"), memory: k8s.Quantity.fromString("256Mi") },
  // No CPU limit: a throttled controller renews its locks late.
  limits: { memory: k8s.Quantity.fromString("512Mi") },
};

/** On different nodes and in different zones, where there are several; a Pod is scheduled in any case. */
const spread = (topologyKey: string, matchLabels: Labels): k8s.TopologySpreadConstraint => ({
  topologyKey,
  maxSkew: 1,
  whenUnsatisfiable: "ScheduleAnyway",
  labelSelector: { matchLabels },
  // Otherwise the Pods of the previous version count, too, and those of the new one end up on the same node.
  matchLabelKeys: ["pod-template-hash"],
});

export const ownEnv = ["POD_NAME", "POD_NAMESPACE"] as const;

/** The variables that `extraEnv` adds. */
const extraEnvOf = ({ extraEnv = [] }: ControllerPodProps): readonly k8s.EnvVar[] => {
  for (const { name } of extraEnv)
    if (ownEnv.some((own) => own === name)) throw new Error(`extraEnv: ${name} cannot be set: it is that of the Pod`);
  return extraEnv;
};

/** For Prometheus configurations that discover Pods by annotations. */
const scraped = {
  "prometheus.io/scrape": "true",
  "prometheus.io/port": `${httpPort}`,
  "prometheus.io/path": "/metrics",
};

/** What one controller has otherwise than the other. */
export interface OfController {
  readonly args: readonly string[];
  /** Whether it is given the name of its Pod, to label it while it leads. */
  readonly namesPod: boolean;
  readonly serviceAccountName: string;
  /** Labels by which its Pods are selected. */
  readonly labels: Labels;
  /** Besides the one for HTTP. */
  readonly ports?: readonly k8s.ContainerPort[];
  readonly volumes?: readonly { readonly volume: k8s.Volume; readonly mountPath: string }[];
}

/** The Pod template of a controller, with the `restricted` Pod Security Standard and a read-only file system. */
export const controllerPod = (props: ControllerPodProps, own: OfController): k8s.PodTemplateSpec => {
  const { volumes = [] } = own;
  const container: k8s.Container = {
    name: "controller",
    image: props.image ?? defaultImage,
    imagePullPolicy: props.imagePullPolicy ?? "IfNotPresent",
    args: [...own.args],
    env: [
      ...(own.namesPod ? [fieldRef("POD_NAME", "metadata.name")] : []),
      fieldRef("POD_NAMESPACE", "metadata.namespace"),
      ...extraEnvOf(props),
    ],
    ports: [{ name: "http", containerPort: httpPort }, ...(own.ports ?? [])],
    livenessProbe: probe("/healthz"),
    readinessProbe: probe("/readyz"),
    resources: props.resources ?? defaultResources,
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: true,
    },
    ...(volumes.length === 0
      ? {}
      : { volumeMounts: volumes.map(({ volume: { name }, mountPath }) => ({ name, mountPath })) }),
  };
  const annotations = { ...(props.metricsAuth === true ? {} : scraped), ...props.podAnnotations };
  const { imagePullSecrets = [], tolerations = [], priorityClassName, affinity } = props;
  const {
    topologySpreadConstraints = [
      spread("kubernetes.io/hostname", own.labels),
      spread("topology.kubernetes.io/zone", own.labels),
    ],
  } = props;
  return {
    metadata: {
      labels: { ...props.podLabels, ...own.labels },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    spec: {
      serviceAccountName: own.serviceAccountName,
      automountServiceAccountToken: true,
      enableServiceLinks: false,
      ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
      ...(priorityClassName === undefined ? {} : { priorityClassName }),
      nodeSelector: props.nodeSelector ?? defaultNodeSelector,
      ...(tolerations.length === 0 ? {} : { tolerations: [...tolerations] }),
      ...(affinity === undefined ? {} : { affinity }),
      ...(topologySpreadConstraints.length === 0 ? {} : { topologySpreadConstraints: [...topologySpreadConstraints] }),
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      containers: [container],
      ...(volumes.length === 0 ? {} : { volumes: volumes.map(({ volume }) => volume) }),
    },
  };
};
