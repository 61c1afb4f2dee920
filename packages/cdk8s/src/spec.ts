import { inScope, type SpecManifest } from "@janus/authoring";
import type { Change } from "./change.ts";
import { written } from "./time.ts";
import type { TransactionOptions } from "./transaction-props.ts";

/** The name of the ServiceAccount. */
export const accountOf = ({ serviceAccount }: TransactionOptions): string =>
  typeof serviceAccount === "string" ? serviceAccount : serviceAccount.name;

/** The spec, with what the objects are by now. */
export const specOf = (
  { timeout, lockTimeout, rollbackWaitTimeout, ...props }: TransactionOptions,
  changes: readonly Change[],
): SpecManifest => ({
  serviceAccountName: accountOf(props),
  ...(props.waitFor === undefined ? {} : { waitFor: props.waitFor }),
  ...(timeout === undefined ? {} : { timeout: written(timeout) }),
  ...(lockTimeout === undefined ? {} : { lockTimeout: written(lockTimeout) }),
  ...(props.rollbackWaitFor === undefined ? {} : { rollbackWaitFor: props.rollbackWaitFor }),
  ...(rollbackWaitTimeout === undefined ? {} : { rollbackWaitTimeout: written(rollbackWaitTimeout) }),
  ...(props.deletionPolicy === undefined ? {} : { deletionPolicy: props.deletionPolicy }),
  ...(props.ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished: props.ttlSecondsAfterFinished }),
  changes: inScope(changes.map(({ toManifest }) => toManifest())),
});
