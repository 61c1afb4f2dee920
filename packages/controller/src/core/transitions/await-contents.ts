// Waits for the ServiceAccount and the contents of changes before the first change.
import { contentsState } from "../state/contents.ts";
import { run, type Step, wait } from "../state/effect.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { readServiceAccount } from "../preflight/preflight.ts";
import { failUntouched } from "./fail-untouched.ts";

/** Every request for targets and contents is made as the ServiceAccount. Without it, the Transaction is Failed. */
export const findServiceAccount = (context: ReconcileContext): Step | undefined => {
  const { txn, known } = context;
  if (known.serviceAccount === undefined) return run(readServiceAccount(txn));
  const { serviceAccountName } = txn.spec;
  const why = `ServiceAccount ${serviceAccountName} does not exist in ${txn.metadata.namespace}: create it, then create the Transaction again`;
  return known.serviceAccount === "missing"
    ? run(failUntouched(context, { reason: "ServiceAccountMissing", general: [why] }))
    : undefined;
};

/**
 * Reads the contents of changes that are in ConfigMaps and Secrets, before the first change. If they cannot be used, the
 * Transaction is Failed, for this reason.
 */
export const awaitContents = (context: ReconcileContext, reason: string): Step | undefined => {
  const state = contentsState(context);
  switch (state.type) {
    case "complete":
      return undefined;
    case "requests":
      return run(...state.effects);
    case "wait":
      return wait(state.until, state.because);
    case "unusable":
      return run(failUntouched(context, { reason, problems: state.problems }));
  }
};
