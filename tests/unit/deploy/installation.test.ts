import { execFileSync } from "node:child_process";
import { transactionCrd } from "@janus/api";
import * as deploy from "@janus/deploy";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";

const clusterScoped = new Set([
  "Namespace",
  "CustomResourceDefinition",
  "ClusterRole",
  "ClusterRoleBinding",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "PriorityLevelConfiguration",
  "FlowSchema",
]);

const kindsOf = (props: deploy.JanusProps): readonly string[] => deploy.installation(props).map(({ kind }) => kind);

const metricsReaders = (metricsAuth: boolean): readonly deploy.Manifest[] =>
  deploy.installation({ metricsAuth }).filter(({ metadata }) => metadata.name === "janus-metrics-reader");

describe("the installation", () => {
  it("is these objects, each under a name of its own, in an order in which they can be applied", () => {
    expect(deploy.installation().map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      "Namespace janus-system",
      "CustomResourceDefinition transactions.backup.janus.io",
      "ServiceAccount janus-controller",
      "ClusterRole janus-controller",
      "ClusterRoleBinding janus-controller",
      "Role janus-controller",
      "RoleBinding janus-controller",
      "ClusterRole janus-transactions-view",
      "ClusterRole janus-transactions-edit",
      "ClusterRole janus-transactions-approve",
      "ValidatingAdmissionPolicy janus-fence",
      "ValidatingAdmissionPolicyBinding janus-fence",
      "ValidatingAdmissionPolicy janus-controller-limits",
      "ValidatingAdmissionPolicyBinding janus-controller-limits",
      "ValidatingAdmissionPolicy janus-stamps",
      "ValidatingAdmissionPolicyBinding janus-stamps",
      "ValidatingAdmissionPolicy janus-requester",
      "ValidatingAdmissionPolicyBinding janus-requester",
      "ValidatingAdmissionPolicy janus-approval",
      "ValidatingAdmissionPolicyBinding janus-approval",
      "PriorityLevelConfiguration janus-controller",
      "FlowSchema janus-controller-leases",
      "FlowSchema janus-controller",
      "NetworkPolicy janus-controller",
      "Service janus-controller",
      "PodDisruptionBudget janus-controller",
      "Deployment janus-controller",
    ]);
  });

  it("stamps who asked only where that is wanted, because older clusters cannot", () => {
    expect(kindsOf({})).not.toContain("MutatingAdmissionPolicy");
    expect(kindsOf({ stampsUsers: true })).toContain("MutatingAdmissionPolicy");
  });

  it("counts no ready Pods where only the leader is ready, and needs no mark on its Pod", () => {
    expect(kindsOf({ readiness: "leader" })).not.toContain("PodDisruptionBudget");
    expect(kindsOf({ readiness: "leader" })).not.toContain("Role");
  });

  it("has a role for readers of the metrics where that takes a right", () => {
    expect(metricsReaders(false)).toEqual([]);
    expect(metricsReaders(true)).toMatchObject([{ rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }] }]);
  });

  it.each([undefined, "elsewhere"])("puts namespaced objects, and only those, into the namespace (%s)", (namespace) => {
    for (const { kind, metadata } of deploy.installation(namespace === undefined ? {} : { namespace })) {
      expect([kind, metadata.namespace]).toEqual([
        kind,
        clusterScoped.has(kind) ? undefined : (namespace ?? "janus-system"),
      ]);
    }
  });

  it("follows a namespace of another name in the Namespace and in the binding's subject", () => {
    const objects = deploy.installation({ namespace: "elsewhere" });
    expect(objects[0]).toMatchObject({ kind: "Namespace", metadata: { name: "elsewhere" } });
    expect(objects.find(({ kind }) => kind === "ClusterRoleBinding")).toMatchObject({
      subjects: [{ kind: "ServiceAccount", name: "janus-controller", namespace: "elsewhere" }],
    });
  });

  it("fences with the Lease of that namespace, under the name by which the controller asks for it", () => {
    const binding = deploy
      .installation({ namespace: "elsewhere" })
      .find(({ kind }) => kind === "ValidatingAdmissionPolicyBinding");
    expect(binding).toMatchObject({
      spec: { paramRef: { name: "janus-controller-leader", namespace: "elsewhere", parameterNotFoundAction: "Allow" } },
    });
  });

  it("fences with the Lease that the controller is told to use", () => {
    const leaderElection = { leaseName: "another", leaseNamespace: "there" };
    const binding = deploy
      .installation({ leaderElection })
      .find(({ kind }) => kind === "ValidatingAdmissionPolicyBinding");
    expect(binding).toMatchObject({ spec: { paramRef: { name: "another", namespace: "there" } } });
    expect(JSON.stringify(deploy.installation({ leaderElection }))).toContain(
      '"--leader-elect-resource-name=another","--leader-elect-resource-namespace=there"',
    );
  });

  it("admits only restricted Pods to the namespace", () => {
    expect(deploy.installation()[0]?.metadata.labels).toMatchObject({
      "pod-security.kubernetes.io/enforce": "restricted",
    });
  });

  it("prints the CRD exactly as the API states it", () => {
    expect(deploy.installation().find(({ kind }) => kind === "CustomResourceDefinition")).toEqual(transactionCrd);
  });

  it("prints YAML that reads back as the same objects, without anchors", () => {
    const text = deploy.yaml(deploy.installation());
    expect(parseAllDocuments(text, { version: "1.1" }).map((document) => document.toJS({ maxAliasCount: 0 }))).toEqual(
      deploy.installation(),
    );
  });
});

describe("each part", () => {
  const parts = [
    [["Namespace"], deploy.JanusNamespace],
    [["CustomResourceDefinition"], deploy.TransactionCrd],
    [["ServiceAccount"], deploy.ControllerServiceAccount],
    [["ClusterRole"], deploy.ControllerRole],
    [["ClusterRoleBinding"], deploy.ControllerRoleBinding],
    [["ClusterRole", "ClusterRole", "ClusterRole"], deploy.TransactionRoles],
    [["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"], deploy.LeaderFence],
    [["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"], deploy.ControllerLimits],
    [["Role", "RoleBinding"], deploy.LeaderLabelRole],
    [["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"], deploy.RequesterPolicy],
    [["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"], deploy.StampsPolicy],
    [["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"], deploy.ApprovalPolicy],
    [["PriorityLevelConfiguration", "FlowSchema", "FlowSchema"], deploy.FlowControl],
    [["NetworkPolicy"], deploy.ControllerNetworkPolicy],
    [["Service"], deploy.ControllerService],
    [["PodDisruptionBudget"], deploy.ControllerDisruptionBudget],
    [["Deployment"], deploy.ControllerDeployment],
  ] as const;

  it.each(parts)("works alone and makes the same as within the whole: %s", (kinds, Part) => {
    const alone = deploy.render((chart) => new Part(chart, "Part"));
    expect(alone.map(({ kind }) => kind)).toEqual(kinds);
    for (const object of alone) expect(deploy.installation()).toContainEqual(object);
  });

  it("does nothing when it is only imported", () => {
    const script = 'await import("@janus/deploy")';
    expect(
      execFileSync(process.execPath, ["--conditions=source", "--input-type=module", "--eval", script], {
        cwd: import.meta.dirname,
        encoding: "utf8",
      }),
    ).toBe("");
  });
});

it("does not take a list of no ports for all ports of the API server", () => {
  expect(() =>
    deploy.render((chart) => new deploy.ControllerNetworkPolicy(chart, "Part", { apiServerPorts: [] })),
  ).toThrow("apiServerPorts: none is named");
});
