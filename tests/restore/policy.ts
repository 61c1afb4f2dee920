import { onTestFinished } from "vitest";
import { kubectl, kubectlWith } from "../fixtures/cluster.ts";

const group = "admissionregistration.k8s.io/v1";

/** What the API server makes of every such write of a ConfigMap in this namespace, soon, and until the test is over. */
export const policy = async (
  namespace: string,
  fields: string,
  operation: "CREATE" | "UPDATE" = "UPDATE",
): Promise<void> => {
  const metadata = { name: namespace };
  const items = [
    {
      apiVersion: group,
      kind: "MutatingAdmissionPolicy",
      metadata,
      spec: {
        failurePolicy: "Fail",
        reinvocationPolicy: "Never",
        matchConstraints: {
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
          resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: [operation], resources: ["configmaps"] }],
        },
        // What Janus keeps for itself cannot be let go of under a policy that changes it: it is immutable.
        matchConditions: [
          {
            name: "not-of-janus",
            expression: "!has(object.metadata.labels) || !('janus.io/transaction' in object.metadata.labels)",
          },
        ],
        mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: `Object{${fields}}` } }],
      },
    },
    { apiVersion: group, kind: "MutatingAdmissionPolicyBinding", metadata, spec: { policyName: namespace } },
  ];
  onTestFinished(async () => {
    await kubectl("delete", "mutatingadmissionpolicybinding,mutatingadmissionpolicy", namespace);
  });
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await kubectlWith({ stdin: list }, "apply", "--server-side", "-f", "-");
};
