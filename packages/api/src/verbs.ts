// The RBAC verbs that a change and its rollback need on their target.
import type { ResolvedChange } from "./change.ts";

/** The verbs of the rollback, by type of change. */
export const ROLLBACK_VERBS: Readonly<Record<ResolvedChange["type"], readonly string[]>> = {
  Create: ["delete"],
  Update: ["update"],
  Patch: ["update"],
  // Created again, then its field managers are restored.
  Delete: ["create", "update"],
  Replace: ["delete", "create", "update"],
};

/** The verbs of the change itself. */
const OWN_VERBS: Readonly<Partial<Record<ResolvedChange["type"], readonly string[]>>> = {
  Replace: ["delete", "create"],
};

export const ownVerbs = (type: ResolvedChange["type"]): readonly string[] => OWN_VERBS[type] ?? [type.toLowerCase()];

/** The verbs on its target that a change and its rollback need, beside `get`. */
export const verbsOf = (type: ResolvedChange["type"]): readonly string[] => [
  ...new Set([...ownVerbs(type), ...ROLLBACK_VERBS[type]]),
];
