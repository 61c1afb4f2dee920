import {
  described,
  integer,
  oneOf,
  onUpdate,
  optional,
  satisfying,
  string,
  type TypeOf,
  withDefault,
} from "./codec.ts";
import { Change } from "./change.ts";
import { duration } from "./duration.ts";
import type { Rule } from "./rule.ts";
import { list, object } from "./structure.ts";
import { groupOf, subdomainName, type Target } from "./target.ts";

/** No part can contain a slash, so this is unambiguous. The version is not part of what an object is. */
const identity = ({ apiVersion, kind, namespace, name }: Target): string =>
  [groupOf(apiVersion), kind, namespace ?? "", name].join("/");

// `distinct` over strings and this way to cut off the version keep 500 changes within the API server's cost limit;
// `__namespace__` is how CEL spells a field that has the name of a keyword.
const identityCel = [
  "(c.target.apiVersion.contains('/') ? c.target.apiVersion.substring(0, c.target.apiVersion.indexOf('/')) : '')",
  "c.target.kind",
  "(has(c.target.__namespace__) ? c.target.__namespace__ : '')",
  "c.target.name",
].join(" + '/' + ");

const oncePerTarget: Rule<readonly Change[]> = {
  cel: `self.map(c, ${identityCel}).distinct().size() == self.size()`,
  message: "two changes have the same target (group, kind, namespace and name): make them one change",
  holds: (changes) => new Set(changes.map(({ target }) => identity(target))).size === changes.length,
};

/** What a Transaction shall do. It never changes: whatever was decided on it stays true. */
export const Spec = onUpdate(
  object({
    serviceAccountName: described(
      "ServiceAccount in the Transaction's namespace as which every target is read and changed. Whoever creates the Transaction must be allowed to impersonate it.",
      satisfying(
        string({ maxLength: 253 }),
        subdomainName("serviceAccountName must be the name of a ServiceAccount in the Transaction's namespace"),
      ),
    ),
    lockTimeout: withDefault(
      5 * 60_000,
      described(
        "How long a lock on a target stays good when the controller stops renewing it, as a duration such as 30s or 5m; at least 1s.",
        duration,
      ),
    ),
    timeout: withDefault(
      30 * 60_000,
      described(
        "How long the Transaction may take to go forward, waiting for locks included, as a duration such as 10m or 1h30m; at least 1s. After that it is rolled back.",
        duration,
      ),
    ),
    deletionPolicy: withDefault(
      "Release",
      described(
        "What deleting the Transaction does while it is under way. Release: what is committed stays, and the snapshots of what was there before are kept. Rollback: it is rolled back first. In a namespace that is being deleted it is always Release.",
        oneOf("Release", "Rollback"),
      ),
    ),
    ttlSecondsAfterFinished: optional(
      described(
        "The Transaction is deleted so many seconds after it has finished, as a Job is; kept if absent. One that Failed and has still something to roll back is kept all the same.",
        satisfying(integer, {
          cel: "self >= 0",
          message: "ttlSecondsAfterFinished must not be negative",
          holds: (seconds) => seconds >= 0,
        }),
      ),
    ),
    changes: described(
      "The changes, made one at a time and in this order: all of them or none. If one cannot be made, those before it are rolled back in reverse order.",
      satisfying(list(Change, { atomic: true }, { minItems: 1, maxItems: 500 }), oncePerTarget),
    ),
  }),
  { cel: "self == oldSelf", message: "spec cannot be changed: create a new Transaction instead" },
);
export interface Spec extends TypeOf<typeof Spec> {}
