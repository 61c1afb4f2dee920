// Checks by access reviews whether the user may create and approve Transactions.
import { APPROVAL_LABEL, GROUP } from "@janus/api";
import { isAbsent } from "@janus/types";
import { namespaces } from "@janus/controller";
import * as E from "fp-ts/lib/Either.js";
import type { Cluster } from "../cluster/cluster.ts";
import { conclusive } from "../cluster/conclusive.ts";
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
  const answer = await conclusive(api, { verb: "create", resource: accessReviews, body });
  const status = E.isRight(answer) ? answer.right["status"] : undefined;
  return typeof status === "object" && status !== null && Reflect.get(status, "allowed") === true;
};

const finding = (isFine: boolean, what: string, cure: string): Finding => ({
  isFine,
  what,
  ...(isFine ? {} : { cure }),
});

/**
 * Whether the namespace exists, and whether its Transactions are approved, and the user may do so; nothing where that cannot be
 * known.
 */
const checkNamespace = async (cluster: Cluster): Promise<readonly Finding[]> => {
  const { api, namespace } = cluster;
  const read = await conclusive(api, { verb: "get", resource: namespaces, name: namespace });
  if (E.isLeft(read) && isAbsent(read.left))
    return [{ isFine: false, what: `there is no namespace ${namespace}`, cure: "create it, or name another one: -n" }];
  const label = E.isRight(read) ? read.right.metadata.labels?.[APPROVAL_LABEL] : undefined;
  if (label === undefined) return [];
  const may = await mayUser(cluster, { verb: "approve", resource: "transactions", group: GROUP });
  const others = label === "four-eyes" && may ? ", but not those that you created or edited last" : "";
  const what = `${namespace} requires approval (${label}): you ${may ? "may" : "may not"} approve${others}`;
  return [{ isFine: true, what }];
};

/** Whether the user may create Transactions, as this ServiceAccount. */
export const checkPermissions = async (
  cluster: Cluster,
  serviceAccount: string | undefined,
): Promise<readonly Finding[]> => {
  const { namespace } = cluster;
  const create = await mayUser(cluster, { verb: "create", resource: "transactions", group: GROUP });
  const creating = finding(
    create,
    `you ${create ? "may" : "may not"} create Transactions in ${namespace}`,
    "the built-in role edit has the permission",
  );
  const there = await checkNamespace(cluster);
  if (serviceAccount === undefined) return [...there, creating];
  const use = await mayUser(cluster, { verb: "impersonate", resource: "serviceaccounts", name: serviceAccount });
  const using = finding(
    use,
    `you ${use ? "may" : "may not"} use ServiceAccount ${namespace}/${serviceAccount}`,
    "you need the verb impersonate on it; the built-in role edit has that",
  );
  return [...there, creating, using];
};
