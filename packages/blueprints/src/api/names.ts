// The names of Kanister's API, and of what Janus adds to its objects.
import type { Resource } from "@janus/types";

export const GROUP = "cr.kanister.io";
export const VERSION = "v1alpha1";

const kind = (name: string, plural: string): Resource => ({
  group: GROUP,
  version: VERSION,
  plural,
  kind: name,
  namespaced: true,
  statusSubresource: false,
});

export const blueprints = kind("Blueprint", "blueprints");
export const actionSets = kind("ActionSet", "actionsets");
export const profiles = kind("Profile", "profiles");

/** Held from the first write until the ActionSet has ended, so that a deletion waits for its clean-up. */
export const RUNNING = "blueprints.janus.io/running";

/** The fence: the user extra with the leader's term, the policy, and the Lease that is written by dry run to check it. */
export const FENCE = {
  key: "janus.io/blueprints-fence",
  policy: "janus-blueprints-fence",
  check: "janus-blueprints-fence-check",
} as const;

/** The Lease of the leader among the controllers, in their namespace. */
export const BLUEPRINTS_LEASE = "janus-blueprints-leader";

/** The names of the other admission policies, and of their bindings. */
export const BLUEPRINT_POLICIES = {
  actionSets: "janus-blueprints-actionsets",
  journals: "janus-blueprints-journals",
  validation: "janus-blueprints-validation",
} as const;

/** Stands in for `spec.serviceAccountName` where the CRD is Kanister's own, which prunes the field. */
export const SERVICE_ACCOUNT = "janus.io/service-account";

/** Stands in for `spec.ttlSecondsAfterFinished` in the same way. */
export const TTL = "janus.io/ttl-seconds-after-finished";

/** The beginning of the names of journals, before the uid of the ActionSet. */
export const JOURNAL_PREFIX = "janus-actionset-";

/** The label of journals and Pods: the uid of their ActionSet. */
export const ACTION_SET_UID = "janus.io/actionset-uid";

/** The annotation of the objects that a phase has made: `<uid>/<action>/<phase>/<attempt>`. */
export const MADE_BY = "janus.io/actionset";
