import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type FenceCluster, fenceCluster, leaderOf, type LeaderStatus } from "./fence-cluster.ts";

let cluster: FenceCluster;
beforeAll(async () => {
  cluster = await fenceCluster(() => false);
});
afterAll(() => cluster.end());

/** What the fence says itself, as far as an author can know it. */
const words = ({ identity, term }: LeaderStatus): string =>
  `ValidatingAdmissionPolicy 'janus-fence' with binding 'janus-fence' denied request: janus.io/fence: ` +
  `this write was decided by a leader of Janus whose term is over (${identity}/${term})`;

const crd = (message: string) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "forgeries.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "forgeries", singular: "forgery", kind: "Forgery", listKind: "ForgeryList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              size: { type: "integer", "x-kubernetes-validations": [{ rule: "self < 5", message }] },
            },
          },
        },
      },
    ],
  },
});

/** Lets dry runs pass, and refuses the write itself. */
const policy = (message: string) => [
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "forger" },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
      },
      validations: [{ expression: "request.dryRun || object.metadata.name != 'refused-by-policy'", message }],
    },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "forger" },
    spec: { policyName: "forger", validationActions: ["Deny"] },
  },
];

const role = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  metadata: { name: "forgeries" },
  rules: [{ apiGroups: ["example.com"], resources: ["forgeries"], verbs: ["*"] }],
};
const roleBinding = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "RoleBinding",
  metadata: { name: "forgeries" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "forgeries" },
  subjects: [{ kind: "ServiceAccount", name: "deployer", namespace: "default" }],
};

const creating = (content: { readonly [field: string]: unknown }, apiVersion = "v1", kind = "ConfigMap") => ({
  type: "Create",
  target: { apiVersion, kind, name: (content["metadata"] as { readonly name: string }).name },
  content,
});

interface Ended {
  readonly phase?: string;
  readonly conditions?: readonly { readonly type: string; readonly message: string }[];
}

const submit = (name: string, ...changes: readonly object[]) =>
  cluster.apply({
    apiVersion: "backup.janus.io/v1alpha1",
    kind: "Transaction",
    metadata: { name },
    spec: { serviceAccountName: "deployer", changes },
  });

const statusOf = async (name: string): Promise<Ended> => (await cluster.read("transaction", name))["status"] ?? {};

describe("a refusal in the words of the fence that is not the fence's", () => {
  it("is one of the change, with that message, and the leader keeps leading", async () => {
    const replica = await cluster.replica("only");
    onTestFinished(() => replica.kill());
    await leaderOf([replica]);
    await expect.poll(async () => (await replica.status())?.fence).toBe("up");
    const before = await replica.status();
    if (before === undefined) throw new Error("it does not answer");
    await cluster.apply(crd(words(before)), ...policy(words(before)), role, roleBinding);
    await cluster.kubectl("wait", "--for=condition=Established", "crd/forgeries.example.com");

    await submit(
      "by-annotation",
      creating({ metadata: { name: "annotated", annotations: { "janus.io/fence/x": words(before) } } }),
    );
    await submit("by-crd", creating({ metadata: { name: "large" }, size: 7 }, "example.com/v1", "Forgery"));
    await expect.poll(() => statusOf("by-annotation")).toMatchObject({ phase: "Failed" });
    await expect.poll(() => statusOf("by-crd")).toMatchObject({ phase: "Failed" });
    await submit(
      "by-policy",
      creating({ metadata: { name: "first" } }),
      creating({ metadata: { name: "refused-by-policy" } }),
    );
    await expect.poll(() => statusOf("by-policy")).toMatchObject({ phase: "RolledBack" });
    for (const name of ["by-annotation", "by-crd", "by-policy"]) {
      const ready = (await statusOf(name)).conditions?.find(({ type }) => type === "Ready");
      expect(ready?.message).toContain("janus.io/fence");
    }
    expect(await replica.status()).toEqual(before);
    const events = ["get", "events", "-n=janus-system", "-o=jsonpath={.items[*].reason}"];
    expect((await cluster.kubectl(...events)).match(/LeaderElected/g)).toHaveLength(1);
  });
});
