import { installation, type JanusProps, Monitoring, render, yaml } from "@janus/deploy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kubectlWith } from "../fixtures/cluster.ts";
import { eventually, type OwnCluster, ownCluster } from "./own-cluster.ts";
import { prometheusCrds } from "./prometheus-crds.ts";

const labelSelector = { matchLabels: { "app.kubernetes.io/component": "controller" } };

const variants: Readonly<Record<string, JanusProps>> = {
  "as it is": {},
  "with the leader alone ready": { readiness: "leader" },
  "without leader election": { leaderElection: { enabled: false } },
  "with the Blueprint controller": { blueprints: {} },
  "with the Git journal": { gitJournal: {} },
  "in a namespace of another name": { namespace: "elsewhere" },
  "with nothing that can be left out": {
    crd: false,
    serviceAccount: { name: "mine", annotations: { "example.com/role": "janus" } },
    networkPolicy: false,
    podDisruptionBudget: { enabled: false },
    topologySpreadConstraints: [],
    resources: {},
  },
  "with all that can be set": {
    image: "registry.example/janus@sha256:0000000000000000000000000000000000000000000000000000000000000000",
    imagePullSecrets: ["pull"],
    replicas: 3,
    priorityClassName: "janus",
    imagePullPolicy: "Always",
    podLabels: { team: "platform" },
    podAnnotations: { "prometheus.io/scrape": "false" },
    affinity: {
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "rack", labelSelector }] },
    },
    topologySpreadConstraints: [{ topologyKey: "rack", maxSkew: 2, whenUnsatisfiable: "DoNotSchedule", labelSelector }],
    extraEnv: [{ name: "HTTPS_PROXY", value: "http://proxy.example.com" }],
    podDisruptionBudget: { minAvailable: "50%" },
    aggregateClusterRoles: false,
    nodeSelector: { "kubernetes.io/arch": "amd64" },
    tolerations: [{ key: "dedicated", operator: "Exists", effect: "NoSchedule" }],
    leaderElection: {
      leaseName: "another",
      leaseNamespace: "default",
      leaseDurationSeconds: 60,
      renewDeadlineSeconds: 40,
      retryPeriodSeconds: 10,
    },
    metricsAuth: true,
    flags: ["--log-level=debug"],
    actsAs: [{ namespace: "default", serviceAccounts: ["deployer"] }, { namespace: "kube-public" }],
    clients: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
    apiServerCidrs: ["10.0.0.0/28"],
    apiServerPorts: [443],
    stampsUsers: true,
    blueprints: { podReadyTimeout: "1h", watchNamespaces: ["kube-public", "default"], replicas: 3, resources: {} },
    gitJournal: {
      image: "registry.example/janus-git:1",
      resources: [{ apiGroups: ["*"], resources: ["*"] }],
      webhook: { rules: "All", excludedNamespaces: [], certificateSecret: "webhook" },
      gitPorts: [7999],
      flags: ["--watch-all"],
      shards: true,
      podResources: {},
    },
    monitoring: true,
    prometheusLabels: { release: "prometheus" },
    runbooks: "https://runbooks.example.com/janus",
  },
};

interface Deployment {
  readonly metadata: { readonly generation: number };
  readonly status: { readonly observedGeneration?: number; readonly updatedReplicas?: number };
}

let cluster: OwnCluster;
beforeAll(async () => {
  cluster = await ownCluster();
  await cluster.install(...prometheusCrds);
  await cluster.admin("wait --for=condition=Established --timeout=300s crd --all");
  await cluster.admin("create priorityclass janus --value=1000");
});
afterAll(() => cluster.stop());

/** As a careful person would: an unknown field or a warning is an error. */
const apply = (stdin: string) => {
  const strictly = ["--server-side", "--validate=strict", "--warnings-as-errors"];
  return kubectlWith({ kubeconfig: cluster.kubeconfig, stdin }, "apply", ...strictly, "-f", "-");
};

describe.each(Object.entries(variants))("the installation %s", (_, props) => {
  const namespace = props.namespace ?? "janus-system";

  it("is accepted by the API server, to the last field and without a warning, and its Pods are made", async () => {
    expect(await apply(yaml(installation(props)))).toMatchObject({ code: 0, stderr: "" });
    await eventually(async () => {
      const read = await cluster.admin(`get deployment janus-controller -n ${namespace} -o json`);
      const { metadata, status } = JSON.parse(read) as Deployment;
      return status.observedGeneration === metadata.generation && (status.updatedReplicas ?? 0) > 0;
    });
  });
});

describe("the monitoring", () => {
  it("is accepted alone, too", async () => {
    const monitoring = render((chart) => new Monitoring(chart, "Monitoring"));
    expect(await apply(yaml(monitoring))).toMatchObject({ code: 0, stderr: "" });
  });

  it("would not be with a field that the Prometheus Operator does not know", async () => {
    const [, monitor] = render((chart) => new Monitoring(chart, "Monitoring"));
    const wrong = { ...monitor, spec: { selectors: {} } };
    expect((await apply(JSON.stringify(wrong))).stderr).toContain(".spec.selectors: field not declared in schema");
  });
});

it("the controller's requests, and no others, are in its own share of the API server", async () => {
  const uid = await cluster.admin("get flowschema janus-controller -o jsonpath={.metadata.uid}");
  const leases = await cluster.admin("get flowschema janus-controller-leases -o jsonpath={.metadata.uid}");
  const flowOf = async (user: string, request: string): Promise<string> => {
    const kubeconfig = await cluster.userKubeconfig(user);
    const { stderr } = await kubectlWith({ kubeconfig }, ...request.split(" "), "-v=8");
    return /X-Kubernetes-Pf-Flowschema-Uid: (\S+)/i.exec(stderr)?.[1] ?? "none";
  };
  const controller = "system:serviceaccount:janus-system:janus-controller";
  await eventually(async () => (await flowOf(controller, "get --raw /api/v1/namespaces/default")) === uid);
  expect(await flowOf(controller, "get --raw /apis/coordination.k8s.io/v1/namespaces/default/leases/none")).toBe(
    leases,
  );
  const other = await flowOf("system:serviceaccount:default:deployer", "get --raw /api/v1/namespaces/default");
  expect([uid, leases, "none"]).not.toContain(other);
});
