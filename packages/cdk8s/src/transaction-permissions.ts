// A construct with the ServiceAccount of a Transaction and exactly the RBAC that it needs.
import { type Permissions, permissionsOf } from "@janus/authoring";
import { ApiObject, JsonPatch } from "cdk8s";
import { Construct } from "constructs";
import type { Transaction } from "./transaction.ts";

export interface TransactionPermissionsProps {
  /** The Transaction, with all of its changes. */
  readonly transaction: Transaction;
  /**
   * Whether the ServiceAccount of the Transaction is created. Otherwise it must exist, for example as a construct of
   * your own.
   * @default true
   */
  readonly createServiceAccount?: boolean;
}

const RBAC = "rbac.authorization.k8s.io";

interface Account {
  readonly name: string;
  readonly namespace: string;
}

/** Else its chart may give it a namespace. */
const leaveNamespaceOut = (object: ApiObject): void => {
  if (object.metadata.namespace !== undefined) object.addJsonPatch(JsonPatch.remove("/metadata/namespace"));
};

const grant = (scope: Construct, account: Account, { namespace, rules }: Permissions): void => {
  const apiVersion = `${RBAC}/v1`;
  const kind = namespace === undefined ? "ClusterRole" : "Role";
  const id = namespace === undefined ? kind : `${kind}-${namespace}`;
  const metadata = namespace === undefined ? {} : { namespace };
  const role = new ApiObject(scope, id, { apiVersion, kind, metadata, rules });
  const binding = new ApiObject(scope, `${id}-binding`, {
    apiVersion,
    kind: `${kind}Binding`,
    metadata,
    roleRef: { apiGroup: RBAC, kind, name: role.name },
    subjects: [{ kind: "ServiceAccount", ...account }],
  });
  if (namespace === undefined) [role, binding].forEach(leaveNamespaceOut);
};

/**
 * The ServiceAccount of a Transaction, and exactly the permissions that its changes and their rollback need: a Role and
 * a RoleBinding in each namespace of its objects, a ClusterRole and a ClusterRoleBinding if some are cluster-scoped.
 *
 * They must be applied before the Transaction, which depends on them: in the same chart they are printed first. Put
 * them into a chart of their own if another user applies them, since who applies a Transaction need not be allowed
 * to grant permissions.
 *
 * A custom kind whose CustomResourceDefinition is not in the Transaction counts as namespaced, and its plural is
 * guessed.
 *
 * @throws if the Transaction has no namespace, or an object of it cannot be rendered yet.
 */
export class TransactionPermissions extends Construct {
  constructor(scope: Construct, id: string, { transaction, createServiceAccount = true }: TransactionPermissionsProps) {
    super(scope, id);
    const { metadata, spec } = transaction.manifest;
    const { namespace } = metadata;
    if (namespace === undefined)
      throw new Error(`Transaction ${transaction.node.path} has no namespace: set it in its metadata or on its chart`);
    const account = { name: spec.serviceAccountName, namespace };
    if (createServiceAccount)
      new ApiObject(this, "ServiceAccount", { apiVersion: "v1", kind: "ServiceAccount", metadata: account });
    for (const permissions of permissionsOf(spec, namespace)) grant(this, account, permissions);
    transaction.node.addDependency(this);
  }
}
