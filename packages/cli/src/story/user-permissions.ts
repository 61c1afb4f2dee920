import * as E from "fp-ts/lib/Either.js";
import type { Cluster } from "../cluster/cluster.ts";
import { accessReviews } from "../cluster/resources.ts";
import type { Finding } from "./checkup.ts";

/** Whether the user may do this; the verb `impersonate` is about a ServiceAccount. */
const mayUser = async (
  { api, namespace }: Cluster,
  attributes: { readonly verb: string; readonly resource: string; readonly group?: string; readonly name?: string },
): Promise<boolean> => {
  const kind = "SelfSubjectAccessReview";
  const spec = { resourceAttributes: { namespace, ...attributes } };
  const body = { apiVersion: "authorization.k8s.io/v1", kind, spec };
  const answer = await api.send({ verb: "create", resource: accessReviews, body });
  const status = E.isRight(answer) ? answer.right["status"] : undefined;
  return typeof status === "object" && status !== null && Reflect.get(status, "allowed") === true;
};

const finding = (isFine: boolean, what: string, cure: string): Finding => ({
  isFine,
  what,
  ...(isFine ? {} : { cure }),
});

/** Whether the user may create Transactions, as this ServiceAccount. */
export const checkPermissions = async (
  cluster: Cluster,
  serviceAccount: string | undefined,
): Promise<readonly Finding[]> => {
  const { namespace } = cluster;
  const group = "backup.janus.io";
  const create = await mayUser(cluster, { verb: "create", resource: "transactions", group });
  const creating = finding(
    create,
    `you ${create ? "may" : "may not"} create Transactions in ${namespace}`,
    "the built-in role edit has the permission",
  );
  if (serviceAccount === undefined) return [creating];
  const use = await mayUser(cluster, { verb: "impersonate", resource: "serviceaccounts", name: serviceAccount });
  const using = finding(
    use,
    `you ${use ? "may" : "may not"} use ServiceAccount ${namespace}/${serviceAccount}`,
    "you need the verb impersonate on it; the built-in role edit has that",
  );
  return [creating, using];
};
