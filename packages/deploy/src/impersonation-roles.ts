import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { controllerName, defaultNamespace } from "./defaults.ts";
import { controllerLabels } from "./labels.ts";
import type { NamespacedProps } from "./namespaced.ts";
import { serviceAccountNameOf, type ServiceAccountProps } from "./service-account.ts";

/** ServiceAccounts of one namespace, which exists. */
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
   * The ServiceAccounts that Transactions can name. The controller has no right to act as any other: a Transaction that names one
   * ends Failed, with no changes applied.
   * @default every ServiceAccount of the cluster
   */
  readonly actsAs?: readonly ActsAs[];
}

export interface ImpersonationRolesProps extends NamespacedProps, ServiceAccountProps, ActsAsProps {}

const name = `${controllerName}-impersonation`;

/**
 * Lets the controller act as certain ServiceAccounts: a Role in the namespace of each. Without `actsAs` there is none, and the
 * ClusterRole of the controller has the right for all.
 *
 * With it comes the right to act as itself, which is how it tries whether the fence is up.
 */
export class ImpersonationRoles extends Construct {
  constructor(scope: Construct, id: string, props: ImpersonationRolesProps = {}) {
    super(scope, id);
    const home = props.namespace ?? defaultNamespace;
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

/** No names would mean all of them to RBAC, so they are refused. */
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
