// Says what to do where a ServiceAccount lacks permissions that nobody has chosen.
import type { ActionSet } from "../api/action-set.ts";
import { namedServiceAccount } from "./named-objects.ts";

/**
 * Says what to do where the ServiceAccount may not do something, and the ActionSet names none.
 *
 * @param account that which it has by default
 */
export const accountHint = (
  message: string,
  actionSet: Pick<ActionSet, "spec"> & { readonly metadata: Pick<ActionSet["metadata"], "labels" | "namespace"> },
  account: string,
): string | undefined => {
  const { namespace } = actionSet.metadata;
  const isDenied =
    message.includes(`User "system:serviceaccount:${namespace}:${account}" cannot `) ||
    message.includes(`ServiceAccount ${namespace}/${account} may not `);
  return isDenied && namedServiceAccount(actionSet) === undefined
    ? `the ActionSet names no ServiceAccount, and so has ${account}: set spec.serviceAccountName or the label janus.io/service-account`
    : undefined;
};
