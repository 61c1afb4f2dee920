import { ControllerDeployment, type ControllerDeploymentProps, render } from "@janus/deploy";
import { describe, expect, it } from "vitest";
import { HELP, parseFlags } from "../../../packages/controller/src/shell/flags.ts";

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

const deployment = (props: ControllerDeploymentProps = {}): Deployment =>
  render((chart) => new ControllerDeployment(chart, "Deployment", props))[0] as unknown as Deployment;

const argsOf = (props: ControllerDeploymentProps): unknown =>
  deployment(props).spec.template.spec.containers[0]?.["args"];

const electionFlags = (name: string, namespace: string, ...[duration, deadline, period]: readonly string[]) => [
  "--leader-elect=true",
  `--leader-elect-resource-name=${name}`,
  `--leader-elect-resource-namespace=${namespace}`,
  `--leader-elect-lease-duration=${duration}`,
  `--leader-elect-renew-deadline=${deadline}`,
  `--leader-elect-retry-period=${period}`,
];

const timed = (leaseDurationSeconds: number, renewDeadlineSeconds: number, retryPeriodSeconds: number) => ({
  leaderElection: { leaseDurationSeconds, renewDeadlineSeconds, retryPeriodSeconds },
});

const pod = deployment().spec.template.spec;
const containers = [...pod.containers, ...(pod.initContainers ?? [])];

describe("the controller's Deployment", () => {
  it("has one controller stand by, and replaces them one after the other", () => {
    expect(deployment().spec).toMatchObject({
      replicas: 2,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    });
  });

  it("waits for no ready Pods in an update where only the leader is ready", () => {
    expect(deployment({ readiness: "leader" }).spec).toMatchObject({
      strategy: { rollingUpdate: { maxUnavailable: "100%", maxSurge: 0 } },
    });
  });

  it("runs one controller at a time without leader election, and refuses more", () => {
    const alone = { leaderElection: { enabled: false } };
    expect(deployment(alone).spec).toMatchObject({ replicas: 1, strategy: { type: "Recreate" } });
    expect(() => deployment({ ...alone, replicas: 2 })).toThrow("only one controller");
    expect(() => deployment({ replicas: 0 })).toThrow("replicas is 0: without a controller");
  });

  it("tells the controller what other objects have to agree with, and what is not as usual", () => {
    const usual = electionFlags("janus-controller-leader", "elsewhere", "30s", "20s", "5s");
    expect(argsOf({ namespace: "elsewhere" })).toEqual(["--readiness=any", ...usual]);
    const props: ControllerDeploymentProps = {
      readiness: "leader",
      leaderElection: {
        leaseName: "another",
        leaseNamespace: "there",
        leaseDurationSeconds: 60,
        renewDeadlineSeconds: 40,
        retryPeriodSeconds: 10,
      },
      metricsAuth: true,
      defaultTtlSecondsAfterFinished: 604_800,
      flags: ["--log-level=debug"],
    };
    expect(argsOf(props)).toEqual([
      "--readiness=leader",
      ...electionFlags("another", "there", "60s", "40s", "10s"),
      "--metrics-auth=true",
      "--default-ttl-seconds-after-finished=604800",
      "--log-level=debug",
    ]);
    expect(argsOf({ leaderElection: { enabled: false } })).toEqual(["--readiness=any", "--leader-elect=false"]);
  });

  it.each<ControllerDeploymentProps>([
    {},
    { readiness: "leader", metricsAuth: true, leaderElection: { leaseName: "another", leaseNamespace: "there" } },
    { leaderElection: { enabled: false }, defaultTtlSecondsAfterFinished: 0 },
  ])("tells it so that the controller understands: %j", (props) => {
    expect(parseFlags(argsOf(props) as readonly string[], {})).toMatchObject({ _tag: "Right" });
  });

  it.each([-1, 1.5, 2 ** 31])("refuses a default time to live of %d s", (defaultTtlSecondsAfterFinished) => {
    expect(() => argsOf({ defaultTtlSecondsAfterFinished })).toThrow("must be a whole number from 0 to 2147483647");
  });

  it("refuses durations with which two could lead", () => {
    expect(() => argsOf(timed(30, 20, 20))).toThrow(
      "retryPeriodSeconds (20) must be less than renewDeadlineSeconds (20)",
    );
    expect(() => argsOf(timed(24, 20, 5))).toThrow(
      "leaseDurationSeconds (24) must be at least renewDeadlineSeconds (20) and 5 s",
    );
    expect(() => argsOf(timed(9_999_999_999, 20, 5))).toThrow(
      "leaseDurationSeconds (9999999999) can be 2147483 at most",
    );
    expect(argsOf(timed(25, 20, 5))).toContain("--leader-elect-lease-duration=25s");
    expect(argsOf({ ...timed(24, 20, 5), flags: ["--write-timeout=2s"] })).toContain("--write-timeout=2s");
  });

  it.each([
    ["--leader-elect=false", "set leaderElection.enabled instead"],
    ["--leader-elect", "set leaderElection.enabled instead"],
    ["--leader-elect-lease-duration=1s", "set leaderElection.leaseDurationSeconds instead"],
    ["--namespace=foo", "always the namespace of the Pod"],
    ["--http-port=9", "always 8080"],
    ["--readiness=any", "set readiness instead"],
    ["--metrics-auth", "set metricsAuth instead"],
    ["--default-ttl-seconds-after-finished=0", "set defaultTtlSecondsAfterFinished instead"],
    ["--sensitive-kinds", "set sensitiveKinds instead"],
  ])("refuses the flag %s, which would win over what other objects agree with", (flag, instead) => {
    expect(() => argsOf({ flags: ["--log-level=debug", flag] })).toThrow(instead);
  });

  it("takes every flag that it does not set itself", () => {
    const props = {
      metricsAuth: true,
      sensitiveKinds: ["ConfigMap"],
      defaultTtlSecondsAfterFinished: 60,
      leaderElection: { leaseName: "another" },
    };
    const set = (argsOf(props) as readonly string[]).map((flag) => flag.split("=")[0] ?? "");
    const refused = [...new Set([...set, "--namespace", "--http-port"])].toSorted();
    const all = [...HELP.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag = ""]) => flag);
    const isRefused = (flag: string): boolean => {
      try {
        argsOf({ flags: [flag] });
        return false;
      } catch {
        return true;
      }
    };
    expect(all.filter(isRefused).toSorted()).toEqual(refused);
  });

  it("prefers different nodes and zones for its Pods, and waits for none", () => {
    expect(pod).toMatchObject({
      topologySpreadConstraints: ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map((topologyKey) => ({
        topologyKey,
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: deployment().spec.selector,
      })),
    });
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
      requests: { cpu: "100m", memory: "256Mi" },
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
    expect(containers[0]?.["image"]).toBe("image-not-set.invalid/janus:0.1.0");
    const image = "registry.example/janus@sha256:0";
    expect(deployment({ image }).spec.template.spec.containers[0]?.["image"]).toBe(image);
  });

  it("gives its Pods more labels, but never others in place of those by which they are selected", () => {
    const podLabels = { team: "a", "app.kubernetes.io/name": "other" };
    const { selector, template } = deployment({ podLabels }).spec;
    expect(template.metadata.labels).toEqual({ team: "a", ...selector.matchLabels });
  });

  it("gives its Pods annotations, also in place of its own", () => {
    const podAnnotations = { "prometheus.io/scrape": "false", a: "b" };
    expect(deployment({ podAnnotations }).spec.template.metadata).toMatchObject({
      annotations: { ...podAnnotations, "prometheus.io/path": "/metrics" },
    });
  });

  it("has more environment variables, but none in place of its own", () => {
    const extraEnv = [{ name: "HTTPS_PROXY", value: "http://proxy.example.com" }];
    const names = deployment({ extraEnv }).spec.template.spec.containers[0]?.["env"] as readonly { name: string }[];
    expect(names.map(({ name }) => name)).toEqual(["POD_NAME", "POD_NAMESPACE", "HTTPS_PROXY"]);
    expect(() => deployment({ extraEnv: [{ name: "POD_NAMESPACE", value: "shop" }] })).toThrow(
      "extraEnv: POD_NAMESPACE cannot be set: it is that of the Pod",
    );
  });
});
