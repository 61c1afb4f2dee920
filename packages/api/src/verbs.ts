import type { ResolvedChange } from "./change.ts";

/** The verbs of the rollback, by type of change. */
export const ROLLBACK_VERBS: Readonly<Record<ResolvedChange["type"], readonly string[]>> = {
  Create: ["delete"],
  Update: ["update"],
  Patch: ["update"],
  // Created again, then its field managers are restored.
  Delete: ["create", "update"],
};

/** The verbs on its target that a change and its rollback need, beside `get`. */
export const verbsOf = (type: ResolvedChange["type"]): readonly string[] => [
  ...new Set([type.toLowerCase(), ...ROLLBACK_VERBS[type]]),
];
