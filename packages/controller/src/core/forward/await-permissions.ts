// Waits for permissions that the ServiceAccount lacked, and that an earlier change may grant.
import { type ApiCall, run } from "../state/effect.ts";
import type { ChangeContext } from "./change-context.ts";
import { failed, passed, pending, type TurnCheck } from "./turn-check.ts";
import { changeIn } from "../state/observations.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { waiting } from "../state/status-progress.ts";
import { grant, lackingPermissions, reviewsOf } from "../preflight/permissions.ts";
import { ENABLING_TIME } from "../state/resolved-changes.ts";
import { POLL_INTERVAL } from "../state/waits.ts";

/** Checks the permissions again in the turn of the change, and records since when. */
const asking = (changeContext: ChangeContext): readonly ApiCall[] =>
  reviewsOf(changeContext).map((request) => ({
    ...request,
    folds: [...request.folds, { type: "permissions-awaited" }],
  }));

/**
 * Waits for permissions that the ServiceAccount lacked during the preflight, and that an earlier change may
 * bring.
 *
 * @returns passed once it has all that the change and its rollback need; until then, its target must not be locked.
 *          failed if they are still missing after the time limit.
 */
export const awaitPermissions = (changeContext: ChangeContext): TurnCheck => {
  const { context, journal, index, place } = changeContext;
  const { known, now, txn } = context;
  const { enabling } = changeIn(known, index);
  if (enabling?.permissionsReadAt === undefined) return pending(run(...asking(changeContext)));
  const verbs = lackingPermissions(changeContext, known);
  if (verbs.length === 0) return passed;
  const missing = `ServiceAccount ${txn.spec.serviceAccountName} may not change ${formatRef(place)}, or roll it back: ${grant(changeContext, verbs)}`;
  if (now >= enabling.since + ENABLING_TIME) return failed(missing);
  const again = enabling.permissionsReadAt + POLL_INTERVAL;
  return pending(
    now < again ? waiting(context, journal, again, `trying again: ${missing}`) : run(...asking(changeContext)),
  );
};
