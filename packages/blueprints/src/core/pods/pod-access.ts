// The permissions that a function with a Pod of its own needs.
import type { Access } from "../phase-context.ts";

export const podAccess = (namespace: string): readonly Access[] => [
  ...["create", "get", "patch", "delete"].map((verb) => ({ verb, group: "", resource: "pods", namespace })),
  { verb: "get", group: "", resource: "pods", subresource: "log", namespace },
];

/** The permissions for the Secret that a Pod waits for. `get`: it may have been made, and the answer be lost. */
export const argsAccess = (namespace: string): readonly Access[] =>
  ["create", "get"].map((verb) => ({ verb, group: "", resource: "secrets", namespace }));
