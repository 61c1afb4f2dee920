import { ControllerDeployment, render } from "@janus/deploy";
import { describe, expect, it } from "vitest";

type Fields = Readonly<Record<string, unknown>>;

interface Deployment {
  readonly spec: {
    readonly selector: { readonly matchLabels: Fields };
    readonly template: {
      readonly metadata: { readonly labels: Fields };
      readonly spec: Fields & { readonly containers: readonly Fields[]; readonly initContainers?: readonly Fields[] };
    };
  };
}

const deployment = (props = {}): Deployment =>
  render((chart) => new ControllerDeployment(chart, "Deployment", props))[0] as unknown as Deployment;

const pod = deployment().spec.template.spec;
const containers = [...pod.containers, ...(pod.initContainers ?? [])];

describe("the controller's Deployment", () => {
  it("has one controller stand by, and replaces them one after the other", () => {
    expect(deployment().spec).toMatchObject({ replicas: 2, strategy: { type: "RollingUpdate" } });
  });

  it("selects its own Pods", () => {
    expect(deployment().spec.template.metadata.labels).toMatchObject(deployment().spec.selector.matchLabels);
  });

  it("runs every container as non-root, without capabilities, on a file system that it cannot write", () => {
    expect(pod).toMatchObject({ securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } } });
    expect(containers).toHaveLength(1);
    for (const container of containers) {
      expect(container["securityContext"]).toEqual({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
        readOnlyRootFilesystem: true,
      });
    }
  });

  it("asks for a modest share of a node, and is not throttled", () => {
    expect(containers[0]?.["resources"]).toEqual({
      requests: { cpu: "50m", memory: "128Mi" },
      limits: { memory: "512Mi" },
    });
  });

  it("has the token of its ServiceAccount, and knows its own name and namespace", () => {
    expect(pod).toMatchObject({ serviceAccountName: "janus-controller", automountServiceAccountToken: true });
    expect(containers[0]).toMatchObject({
      env: [
        { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        { name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
      ],
    });
  });

  it("is probed on a port that it declares", () => {
    expect(containers[0]).toMatchObject({
      ports: [{ name: "http", containerPort: 8080 }],
      livenessProbe: { httpGet: { path: "/healthz", port: "http" } },
      readinessProbe: { httpGet: { path: "/readyz", port: "http" } },
    });
  });

  it("runs the image that it is given", () => {
    expect(containers[0]?.["image"]).toBe("ghcr.io/janus-project/janus:0.1.0");
    const image = "registry.example/janus@sha256:0";
    expect(deployment({ image }).spec.template.spec.containers[0]?.["image"]).toBe(image);
  });
});
