// The codec of spec, with its defaults and the CEL rules that look at several changes or at an edit.
import { Digest } from "./render.ts";
import { MAX_CHANGES } from "./limits.ts";
import { REQUEST_ROLLBACK } from "./names.ts";
import {
  type AnyCodec,
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
import { duration, durationOrNone, formatDuration } from "./duration.ts";
import { Gates } from "./gates.ts";
import type { Rule } from "./rule.ts";
import { list, object } from "./structure.ts";
import { groupOf, subdomainName, type Target } from "./target.ts";

/** No part can contain a slash, so this is unambiguous. The version is not part of the identity. */
const identity = ({ apiVersion, kind, namespace, name }: Target): string =>
  [groupOf(apiVersion), kind, namespace ?? "", name].join("/");

// With `distinct` over strings and this way to remove the version, 500 changes are within the API server's cost limit.
// `__namespace__` is the CEL name of a field that is called like a keyword.
const identityCel = [
  "(c.target.apiVersion.contains('/') ? c.target.apiVersion.substring(0, c.target.apiVersion.indexOf('/')) : '')",
  "c.target.kind",
  "(has(c.target.__namespace__) ? c.target.__namespace__ : '')",
  "c.target.name",
].join(" + '/' + ");

const oncePerTarget: Rule<readonly Change[]> = {
  cel: `self.map(c, ${identityCel}).distinct().size() == self.size()`,
  message:
    "two changes have the same target (group, kind, namespace and name): make them one change; a Delete and a Create of one object are type Replace",
  holds: (changes) => new Set(changes.map(({ target }) => identity(target))).size === changes.length,
};

export const LIFECYCLES = ["Draft", "Proposed", "Published"] as const;

/** `waitAt`; the first is what counts where it is left out, so that an older controller knows no field that it need not. */
const WAIT_AT = ["EachChange", "End"] as const;

/**
 * `rollbackWaitTimeout` where it is left out, in ms. The controller sets it, not the CRD: an older controller, which does
 * not know the field, would process no Transaction that has it (see `CONTRIBUTING.md`).
 */
export const ROLLBACK_WAIT_TIMEOUT = 10 * 60_000;

const fields = {
  serviceAccountName: described(
    "ServiceAccount in the Transaction's namespace that the controller impersonates to read and modify every target. The user who creates the Transaction needs the verb impersonate on it.",
    satisfying(
      string({ maxLength: 253 }),
      subdomainName("serviceAccountName must be the name of a ServiceAccount in the Transaction's namespace"),
    ),
  ),
  lifecycle: withDefault(
    "Published",
    described(
      "Draft: nothing is locked or applied, and spec may be edited. Proposed: the same, but only lifecycle may be changed: to Published, which approves it, or back to Draft, which rejects it. Published: the Transaction is executed, and spec is immutable.",
      oneOf(...LIFECYCLES),
    ),
  ),
  approvedDigest: optional(
    described(
      "The digest of the render that was approved (status.render.digest). If the Transaction would do anything else when it is executed, it is Failed with no changes applied. Set together with lifecycle Published.",
      Digest,
    ),
  ),
  draftTTL: optional(
    described(
      "How long a Draft or a proposed Transaction is kept after it was last edited or moved, such as 72h; at least 1s. After that it is deleted. Default: it is kept.",
      duration,
    ),
  ),
  lockTimeout: withDefault(
    5 * 60_000,
    described(
      "Duration of the locks on the targets if the controller stops renewing them, such as 30s or 5m; at least 1s.",
      duration,
    ),
  ),
  timeout: withDefault(
    30 * 60_000,
    described(
      "How long the Transaction may take to apply all changes, waiting for locks included, such as 10m or 1h30m; at least 1s. After that it is rolled back.",
      duration,
    ),
  ),
  waitFor: optional(
    described(
      "Default of waitFor for all changes: the gates that each target must meet, at the time that waitAt says.",
      Gates,
    ),
  ),
  waitAt: optional(
    described(
      "When the gates are waited for. EachChange (the default): those of each change before the next one is applied. End: those of all changes once all are applied, before the Transaction is Committed; so what an earlier target needs of a later one is there. In any case, gates that are not met roll everything back.",
      oneOf(...WAIT_AT),
    ),
  ),
  rollbackWaitFor: optional(
    described(
      "Gates that the restored targets must meet after a rollback, before the Transaction is RolledBack, in the syntax of waitFor. The condition Healthy says whether they were met.",
      Gates,
    ),
  ),
  rollbackWaitTimeout: optional(
    described(
      `How long to wait for rollbackWaitFor, such as 10m; at least 1s. Default: ${formatDuration(ROLLBACK_WAIT_TIMEOUT)}.`,
      duration,
    ),
  ),
  deletionPolicy: withDefault(
    "Release",
    described(
      "What happens when an active Transaction is deleted. Release: applied changes stay, and the snapshots of the previous state are kept. Rollback: the Transaction is rolled back first. In a terminating namespace it is always Release.",
      oneOf("Release", "Rollback"),
    ),
  ),
  rollbackWindow: optional(
    described(
      `How long a Committed Transaction can still be rolled back on request, with the annotation ${REQUEST_ROLLBACK}, such as 24h. Until then its snapshots are kept, and the condition Reversible is True. Default: 0s, not at all.`,
      durationOrNone,
    ),
  ),
  ttlSecondsAfterFinished: optional(
    described(
      "Number of seconds after which a finished Transaction is deleted, as for a Job, but not before its rollbackWindow has passed. If absent, the controller's flag --default-ttl-seconds-after-finished counts; without that, it is kept. A Failed Transaction whose rollback is incomplete is always kept.",
      satisfying(integer, {
        cel: "self >= 0",
        message: "ttlSecondsAfterFinished must not be negative",
        holds: (seconds) => seconds >= 0,
      }),
    ),
  ),
  changes: described(
    "The changes, applied one at a time in this order: all of them or none. If one cannot be applied, those before it are rolled back in reverse order.",
    satisfying(list(Change, { atomic: true }, { minItems: 1, maxItems: MAX_CHANGES }), oncePerTarget),
  ),
};

/** The fields that move a Transaction through its lifecycle. All other fields are edited in a Draft alone. */
const MOVING: readonly string[] = ["lifecycle", "approvedDigest"] satisfies readonly (keyof typeof fields)[];

const unchanged = ([name, { presence }]: readonly [string, AnyCodec]): string =>
  presence === "optional"
    ? `has(self.${name}) == has(oldSelf.${name}) && (!has(self.${name}) || self.${name} == oldSelf.${name})`
    : `self.${name} == oldSelf.${name}`;

const content = Object.entries<AnyCodec>(fields).filter(([name]) => !MOVING.includes(name));

/** The spec of a Transaction. Once it is published it is immutable, so that decisions on it stay valid. */
export const Spec = onUpdate(
  satisfying(object(fields), {
    cel: "self.lifecycle == 'Published' || !has(self.approvedDigest)",
    message: "approvedDigest is set together with lifecycle Published: leave it out before",
    holds: ({ lifecycle, approvedDigest }) => lifecycle === "Published" || approvedDigest === undefined,
  }),
  {
    cel: "oldSelf.lifecycle != 'Published' || self == oldSelf",
    message: "spec cannot be changed once it is published: create a new Transaction instead",
  },
  {
    cel: `oldSelf.lifecycle != 'Proposed' || (${content.map(unchanged).join(" && ")})`,
    message:
      "of a proposed Transaction only spec.lifecycle can be changed: set it to Draft to edit, or to Published to approve",
  },
);
export interface Spec extends TypeOf<typeof Spec> {}
