// The codec of changes[].target: apiVersion, kind, name and namespace of one object.
import { DNS_LABEL, DNS_SUBDOMAIN } from "@janus/types";
import { described, optional, satisfying, string, type TypeOf } from "./codec.ts";
import type { Rule } from "./rule.ts";
import { object } from "./structure.ts";

/** The expression must mean the same in RE2 and in JavaScript. */
const matching = (expression: string, message: string): Rule<string> => ({
  cel: `self.matches('${expression}')`,
  message,
  holds: (value) => new RegExp(expression, "u").test(value),
});

const apiVersion = matching(
  `^(${DNS_SUBDOMAIN}/)?[a-z]([-a-z0-9]*[a-z0-9])?$`,
  "apiVersion must be group/version, such as apps/v1, or the bare version of the core group: v1",
);
const kind = matching(
  "^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$",
  "kind must be written as in a manifest, such as ConfigMap",
);
// The requirements on the name of every kind of object: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#path-segment-names
const name: Rule<string> = {
  cel: "!(self in ['', '.', '..']) && !self.contains('/') && !self.contains('%')",
  message: "name must be the name of one object: not empty, not . or .., and without / and %",
  holds: (value) => !["", ".", ".."].includes(value) && !value.includes("/") && !value.includes("%"),
};
const namespace = matching(
  `^${DNS_LABEL}$`,
  "namespace must be the name of a namespace; to use the Transaction's own namespace, leave it out",
);

/** The name of an object whose kind requires a DNS subdomain, as most kinds do. */
export const subdomainName = (message: string): Rule<string> => matching(`^${DNS_SUBDOMAIN}$`, message);

/** One object, by identity. */
export const Target = object({
  apiVersion: described(
    "Group and version of the object: apps/v1, or just v1 for the core group.",
    satisfying(string({ maxLength: 317 }), apiVersion),
  ),
  kind: described("Kind of the object, such as Deployment.", satisfying(string({ maxLength: 63 }), kind)),
  name: described("Name of the object.", satisfying(string({ maxLength: 253 }), name)),
  namespace: optional(
    described(
      "Namespace of the object. Defaults to the namespace of the Transaction; omitted for cluster-scoped kinds.",
      satisfying(string({ maxLength: 63 }), namespace),
    ),
  ),
});
export interface Target extends TypeOf<typeof Target> {}

/** The API group of an apiVersion; empty for the core group. */
export const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf("/")));
