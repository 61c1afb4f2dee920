// Builds the spec of a Transaction from the props of its construct.
import { inScope, type SpecManifest } from "@janus/authoring";
import type { Change } from "./change.ts";
import { written } from "./time.ts";
import type { TransactionOptions } from "./transaction-props.ts";

/** The name of the ServiceAccount. JavaScript may leave it out, which the synthesis then refuses. */
export const accountOf = ({ serviceAccount }: Partial<TransactionOptions>): string | undefined =>
  typeof serviceAccount === "string" ? serviceAccount : serviceAccount?.name;

/** The spec, with what the objects are by now. What is not known is kept, so that it is refused. */
export const specOf = (
  {
    serviceAccount,
    timeout,
    lockTimeout,
    rollbackWaitTimeout,
    waitFor,
    waitAt,
    rollbackWaitFor,
    deletionPolicy,
    rollbackWindow,
    ttlSecondsAfterFinished,
    draftTTL,
    lifecycle,
    approvedDigest,
    ...unknown
  }: Omit<TransactionOptions, "metadata">,
  changes: readonly Change[],
): Partial<SpecManifest> => {
  const serviceAccountName = accountOf({ serviceAccount });
  return {
    ...unknown,
    ...(serviceAccountName === undefined ? {} : { serviceAccountName }),
    ...(waitFor === undefined ? {} : { waitFor }),
    ...(waitAt === undefined ? {} : { waitAt }),
    ...(timeout === undefined ? {} : { timeout: written(timeout) }),
    ...(lockTimeout === undefined ? {} : { lockTimeout: written(lockTimeout) }),
    ...(rollbackWaitFor === undefined ? {} : { rollbackWaitFor }),
    ...(rollbackWaitTimeout === undefined ? {} : { rollbackWaitTimeout: written(rollbackWaitTimeout) }),
    ...(deletionPolicy === undefined ? {} : { deletionPolicy }),
    ...(rollbackWindow === undefined ? {} : { rollbackWindow: written(rollbackWindow) }),
    ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }),
    ...(draftTTL === undefined ? {} : { draftTTL: written(draftTTL) }),
    ...(lifecycle === undefined ? {} : { lifecycle }),
    ...(approvedDigest === undefined ? {} : { approvedDigest }),
    changes: inScope(changes.map(({ toManifest }) => toManifest())),
  };
};
