import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { controllerName, defaultImage, defaultNamespace } from "./defaults.ts";
import { controllerLabels } from "./labels.ts";

export interface ControllerDeploymentProps {
  /**
   * Namespace of the controller.
   * @default "janus-system"
   */
  readonly namespace?: string;
  /**
   * Image of the controller, with tag or digest. It must run as a numeric user other than 0, because the Pod insists on that and
   * leaves the number to the image (some clusters assign one themselves).
   * @default "ghcr.io/janus-project/janus:0.1.0"
   */
  readonly image?: string;
}

const fieldRef = (name: string, fieldPath: string): k8s.EnvVar => ({ name, valueFrom: { fieldRef: { fieldPath } } });

const probe = (path: string): k8s.Probe => ({
  httpGet: { path, port: k8s.IntOrString.fromString("http") },
  periodSeconds: 10,
  timeoutSeconds: 5,
});

/** `/healthz`, `/readyz`, `/status` and `/metrics` are all served on this port. */
const port = 8080;

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
      env: [fieldRef("POD_NAME", "metadata.name"), fieldRef("POD_NAMESPACE", "metadata.namespace")],
      ports: [{ name: "http", containerPort: port }],
      livenessProbe: probe("/healthz"),
      readinessProbe: probe("/readyz"),
      resources: {
        requests: { cpu: k8s.Quantity.fromString("50m"), memory: k8s.Quantity.fromString("128Mi") },
        // No CPU limit: a throttled controller renews its locks late.
        limits: { memory: k8s.Quantity.fromString("512Mi") },
      },
      securityContext: {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
        readOnlyRootFilesystem: true,
      },
    };
    new k8s.KubeDeployment(this, "Resource", {
      metadata: { name: controllerName, namespace: props.namespace ?? defaultNamespace, labels: controllerLabels },
      spec: {
        // One leads, and one stands by. Both are ready, so that a rolling update, or a drain of a node, comes to its end.
        replicas: 2,
        strategy: { type: "RollingUpdate" },
        selector: { matchLabels: controllerLabels },
        template: {
          metadata: {
            labels: controllerLabels,
            annotations: {
              "prometheus.io/scrape": "true",
              "prometheus.io/port": `${port}`,
              "prometheus.io/path": "/metrics",
            },
          },
          spec: {
            serviceAccountName: controllerName,
            automountServiceAccountToken: true,
            enableServiceLinks: false,
            nodeSelector: { "kubernetes.io/os": "linux" },
            securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
            containers: [container],
          },
        },
      },
    });
  }
}
