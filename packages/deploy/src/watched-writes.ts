// The writes that an admission policy of the Blueprint controller checks.
import type { k8s } from "cdk8s-plus-30";
import type { BlueprintsProps } from "./blueprints-props.ts";

const ofNamespaces = (names: readonly string[]): k8s.LabelSelector => ({
  matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: [...names] }],
});

/**
 * Creations and updates in the namespaces that the controller watches: those of others may be served by another controller, such as
 * Kanister's, which writes status itself.
 *
 * With the API server's defaults set explicitly: the field is atomic, and two managers that apply it must not conflict.
 */
export const watchedWrites = (
  { blueprints: { watchNamespaces } = {} }: BlueprintsProps,
  [group, version, ...resources]: readonly [group: string, version: string, ...resources: readonly string[]],
): k8s.MatchResources => ({
  matchPolicy: "Equivalent",
  namespaceSelector: watchNamespaces === undefined ? {} : ofNamespaces(watchNamespaces),
  objectSelector: {},
  resourceRules: [
    {
      apiGroups: [group],
      apiVersions: [version],
      operations: ["CREATE", "UPDATE"],
      resources: [...resources],
      scope: "*",
    },
  ],
});
