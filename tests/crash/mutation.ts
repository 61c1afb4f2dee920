// An admission policy that changes objects when they are updated, as a cluster may have one.
import type { Api, Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { MUTATED, MUTATION } from "./objects.ts";

const NAME = "tests.janus.io-mutated";

const policies: Resource = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  plural: "mutatingadmissionpolicies",
  kind: "MutatingAdmissionPolicy",
  namespaced: false,
  statusSubresource: false,
};
const bindings: Resource = {
  ...policies,
  plural: "mutatingadmissionpolicybindings",
  kind: "MutatingAdmissionPolicyBinding",
};
const [label = ""] = Object.keys(MUTATED);

/**
 * Makes the API server annotate ConfigMaps with the label {@link MUTATED} that are updated, as long as their namespace has a
 * ConfigMap with the name {@link MUTATION}.
 */
export const installMutation = async (api: Api): Promise<void> => {
  const apiVersion = "admissionregistration.k8s.io/v1";
  const metadata = { name: NAME };
  const objects: readonly (readonly [Resource, object])[] = [
    [
      policies,
      {
        apiVersion,
        kind: "MutatingAdmissionPolicy",
        metadata,
        spec: {
          failurePolicy: "Fail",
          reinvocationPolicy: "Never",
          paramKind: { apiVersion: "v1", kind: "ConfigMap" },
          matchConstraints: {
            resourceRules: [
              { apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["configmaps"] },
            ],
          },
          matchConditions: [
            { name: "labelled", expression: `has(object.metadata.labels) && '${label}' in object.metadata.labels` },
          ],
          mutations: [
            {
              patchType: "ApplyConfiguration",
              applyConfiguration: { expression: 'Object{metadata: Object.metadata{annotations: {"mutated": "yes"}}}' },
            },
          ],
        },
      },
    ],
    [
      bindings,
      {
        apiVersion,
        kind: "MutatingAdmissionPolicyBinding",
        metadata,
        spec: { policyName: NAME, paramRef: { name: MUTATION, parameterNotFoundAction: "Allow" } },
      },
    ],
  ];
  for (const [resource, body] of objects) {
    const applied = await api.send({ verb: "apply", resource, name: NAME, body, fieldManager: "setup", force: true });
    if (E.isLeft(applied)) throw new Error(applied.left.message);
  }
};
