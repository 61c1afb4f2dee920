// Names the Lease that locks an object, unambiguously for every legal name and group.
import { isDnsLabel, isDnsSubdomain } from "@janus/types";
import { looksShortened, shortened } from "./shorten.ts";

/** The object that a lock is for. Without the version, because an object is served in several. */
export interface Locked {
  /** Empty for the core group. */
  readonly group: string;
  readonly kind: string;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string;
  readonly name: string;
}

// The groups that Kubernetes itself serves. No two of them have the same kind, except for Event, and no two kinds differ only in
// case.
// https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/
const builtIn: ReadonlySet<string> = new Set([
  "",
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "apiregistration.k8s.io",
  "apps",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "autoscaling",
  "batch",
  "certificates.k8s.io",
  "coordination.k8s.io",
  "discovery.k8s.io",
  "events.k8s.io",
  "flowcontrol.apiserver.k8s.io",
  "internal.apiserver.k8s.io",
  "networking.k8s.io",
  "node.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
  "resource.k8s.io",
  "scheduling.k8s.io",
  "storage.k8s.io",
  "storagemigration.k8s.io",
]);

/** Whether Kubernetes itself serves this group. */
export const isBuiltIn = (group: string): boolean => builtIn.has(group);

/**
 * The group in which an object is stored. Events are served in two groups, and are the same objects in both.
 * https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
 */
export const storedIn = ({ group, kind }: Pick<Locked, "group" | "kind">): string =>
  group === "events.k8s.io" && kind === "Event" ? "" : group;

const isPlainKind = /^[A-Za-z0-9]+$/u;

/**
 * The name of the Lease that locks a target: `janus-lock-<namespace>-<kind>-<name>`, in lower case. The Lease is in the
 * target's namespace; for cluster-scoped targets in the controller's, where the empty namespace
 * (`janus-lock--clusterrole-admin`) distinguishes it from those of namespaced targets.
 *
 * Guarantees: a valid name for a Lease; two targets with Leases in one namespace never share a name. The plain form is
 * used only if it is unambiguous; other names have a hash of the identity of the target.
 */
export const lockLease = ({ group, kind, namespace = "", name }: Locked): string => {
  const plain = `janus-lock-${namespace}-${kind.toLowerCase()}-${name}`;
  const isPlain =
    isBuiltIn(group) &&
    isPlainKind.test(kind) &&
    kind !== "Event" &&
    (namespace === "" || isDnsLabel(namespace)) &&
    isDnsSubdomain(name) &&
    plain.length <= 253 &&
    !looksShortened(plain);
  return isPlain
    ? plain
    : shortened(
        plain.toLowerCase().replaceAll(/[^a-z0-9-]+/gu, "-"),
        JSON.stringify([storedIn({ group, kind }), kind, namespace, name]),
        253,
      );
};
