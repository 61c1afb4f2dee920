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
]);

describe("the installation", () => {
  it("is these objects, each under a name of its own, in an order in which they can be applied", () => {
    expect(deploy.installation().map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      "Namespace janus-system",
      "CustomResourceDefinition transactions.backup.janus.io",
      "ServiceAccount janus-controller",
      "ClusterRole janus-controller",
      "ClusterRoleBinding janus-controller",
      "ClusterRole janus-transactions-view",
      "ClusterRole janus-transactions-edit",
      "ValidatingAdmissionPolicy janus-fence",
      "ValidatingAdmissionPolicyBinding janus-fence",
      "Deployment janus-controller",
    ]);
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
    [["ClusterRole", "ClusterRole"], deploy.TransactionRoles],
    [["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"], deploy.LeaderFence],
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
