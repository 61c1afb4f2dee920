// An admission policy that refuses what a dry run lets pass, as a cluster may have one.
import type { Api, Resource } from "@janus/kube";
import { configMaps } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { REFUSED } from "./objects.ts";

const NAME = "tests.janus.io-refused-for-real";

const policies: Resource = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  plural: "validatingadmissionpolicies",
  kind: "ValidatingAdmissionPolicy",
  namespaced: false,
  statusSubresource: true,
};
const bindings: Resource = {
  ...policies,
  plural: "validatingadmissionpolicybindings",
  kind: "ValidatingAdmissionPolicyBinding",
};
const [[label, value] = ["", ""]] = Object.entries(REFUSED);
const marked = (object: string): string =>
  `${object} != null && has(${object}.metadata.labels) && '${label}' in ${object}.metadata.labels && ${object}.metadata.labels['${label}'] == '${value}'`;

/**
 * Makes the API server refuse objects with the label {@link REFUSED} that a ServiceAccount writes or deletes, except in a
 * dry run: what a preflight cannot see.
 */
export const installRefusal = async (api: Api): Promise<void> => {
  const objects: readonly (readonly [Resource, object])[] = [
    [
      policies,
      {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingAdmissionPolicy",
        metadata: { name: NAME },
        spec: {
          failurePolicy: "Fail",
          matchConstraints: {
            resourceRules: [
              {
                apiGroups: ["", "apps"],
                apiVersions: ["*"],
                operations: ["CREATE", "UPDATE", "DELETE"],
                resources: ["*"],
              },
            ],
          },
          matchConditions: [
            {
              name: "by-a-service-account",
              expression: "request.userInfo.username.startsWith('system:serviceaccount:')",
            },
            {
              name: "not-by-the-garbage-collector",
              expression: "!request.userInfo.username.startsWith('system:serviceaccount:kube-system:')",
            },
            {
              name: "marked",
              expression: `(${marked("object")}) || (request.operation == 'DELETE' && ${marked("oldObject")})`,
            },
          ],
          validations: [{ expression: "request.dryRun", message: "refused for real" }],
        },
      },
    ],
    [
      bindings,
      {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingAdmissionPolicyBinding",
        metadata: { name: NAME },
        spec: { policyName: NAME, validationActions: ["Deny"] },
      },
    ],
  ];
  for (const [resource, body] of objects) {
    const { name } = (body as { readonly metadata: { readonly name: string } }).metadata;
    const applied = await api.send({ verb: "apply", resource, name, body, fieldManager: "setup", force: true });
    if (E.isLeft(applied)) throw new Error(applied.left.message);
  }
  await inForce(api);
};

/** A policy takes a moment until the API server has read it. */
const inForce = async (api: Api): Promise<void> => {
  for (let tries = 0; tries < 600; tries += 1) {
    const name = "refused-for-real";
    const answer = await api.send({
      verb: "create",
      resource: configMaps,
      namespace: "default",
      as: { user: "system:serviceaccount:default:default", groups: ["system:masters"] },
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: REFUSED } },
    });
    if (E.isLeft(answer) && answer.left.message.includes("refused for real")) return;
    if (E.isRight(answer)) await api.send({ verb: "delete", resource: configMaps, namespace: "default", name });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the policy never came into force");
};
