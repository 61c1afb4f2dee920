// Roles that let the controller impersonate only certain ServiceAccounts.
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { CONTROLLER_NAME, SYSTEM_NAMESPACE } from "@janus/api";
import { controllerLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";
import { serviceAccountNameOf, type ServiceAccountProps } from "./service-account.ts";

/** ServiceAccounts of one namespace, which must exist. */
export interface ActsAs {
  readonly namespace: string;
  /**
   * Their names.
   * @default all of the namespace
   */
  readonly serviceAccounts?: readonly string[];
}

export interface ActsAsProps {
  /**
   * The ServiceAccounts that Transactions can name. The controller cannot impersonate any other: a Transaction that names one
   * fails, with no changes applied.
   * @default every ServiceAccount of the cluster
   */
  readonly actsAs?: readonly ActsAs[];
}

export interface ImpersonationRolesProps extends NamespacedProps, ServiceAccountProps, ActsAsProps {}

const name = `${CONTROLLER_NAME}-impersonation`;

/**
 * Lets the controller impersonate certain ServiceAccounts: a Role in the namespace of each. Without `actsAs` there is none, and
 * the ClusterRole of the controller includes the permission for all.
 *
 * It also lets the controller impersonate itself, which it needs to check whether the fence is up.
 */
export class ImpersonationRoles extends Construct {
  constructor(scope: Construct, id: string, props: ImpersonationRolesProps = {}) {
    super(scope, id);
    const home = props.namespace ?? SYSTEM_NAMESPACE;
    const account = serviceAccountNameOf(props);
    const itself: ActsAs = { namespace: home, serviceAccounts: [account] };
    const all = props.actsAs === undefined ? [] : [itself, ...props.actsAs];
    for (const namespace of new Set(all.map((one) => one.namespace))) {
      const rules = all.filter((one) => one.namespace === namespace).map(ruleOf);
      const metadata = { name, namespace, labels: controllerLabels };
      new k8s.KubeRole(this, `Role-${namespace}`, { metadata, rules });
      new k8s.KubeRoleBinding(this, `Binding-${namespace}`, {
        metadata,
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
        subjects: [{ kind: "ServiceAccount", name: account, namespace: home }],
      });
    }
  }
}

/** In RBAC an empty list means all names, so it is rejected. */
const ruleOf = ({ namespace, serviceAccounts }: ActsAs): k8s.PolicyRule => {
  if (serviceAccounts?.length === 0)
    throw new Error(
      `actsAs: no ServiceAccount of ${namespace} is named. Name one, or leave serviceAccounts out for all.`,
    );
  return {
    apiGroups: [""],
    resources: ["serviceaccounts"],
    ...(serviceAccounts === undefined ? {} : { resourceNames: [...serviceAccounts] }),
    verbs: ["impersonate"],
  };
};
