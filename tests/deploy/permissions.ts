import type { Manifest } from "@janus/deploy";

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

/** Each right that these rules give, as `verb resource.group`. */
export const rightsIn = (rules: readonly Rule[]): readonly string[] =>
  rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}${group === "" ? "" : `.${group}`}`)),
    ),
  );

/** The rules of the roles among these objects. */
export const rulesOf = (manifests: readonly Manifest[]): readonly Rule[] =>
  manifests.flatMap(({ rules }) => (rules ?? []) as readonly Rule[]);
