// Warns of Helm and Argo CD hooks among the manifests.
import type { Located } from "./read-manifests.ts";

/** Annotations by which tools know objects that they apply at moments of their own. */
const HOOKS: readonly (readonly [annotation: string, tool: string])[] = [
  ["helm.sh/hook", "Helm"],
  ["argocd.argoproj.io/hook", "Argo CD"],
];

const hookOf = ({ manifest: { kind, metadata } }: Located): readonly string[] =>
  HOOKS.flatMap(([annotation, tool]) => {
    const moments = metadata.annotations?.[annotation];
    return typeof moments === "string" ? [`${kind} ${metadata.name} (${tool}: ${moments})`] : [];
  });

/** Warns of hooks among the manifests: for Kubernetes they are objects like any others. */
export const hookWarnings = (all: readonly Located[]): readonly string[] => {
  const hooks = all.flatMap(hookOf);
  return hooks.length === 0
    ? []
    : [
        `hooks are applied like all other objects, each in the order of its kind: ${hooks.join(", ")}. ` +
          "Leave out those that are for a deletion, a rollback, a test or a failure (helm template --no-hooks leaves out all)",
      ];
};
