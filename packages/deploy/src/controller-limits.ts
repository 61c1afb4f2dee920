// The admission policy that limits the controller's own writes to its own objects.
import {
  FENCE_CHECK,
  GROUP,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  PLURAL,
  POLICIES,
  SNAPSHOT_FINALIZER,
  SYSTEM_NAMESPACE,
} from "@janus/api";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { denyByPolicy } from "./deny-by-policy.ts";
import { controllerLabels } from "./labels.ts";
import { leaderElectionOf, type LeaderElectionProps } from "./leader-election.ts";
import type { NamespacedProps } from "./namespaced.ts";
import { serviceAccountNameOf, type ServiceAccountProps } from "./service-account.ts";

export interface ControllerLimitsProps extends NamespacedProps, ServiceAccountProps, LeaderElectionProps {}

const name = POLICIES.controllerLimits;

/** With the API server's defaults set explicitly: the field is atomic, and two managers that apply it must not conflict. */
const writesOf = (group: string, version: string, ...resources: readonly string[]): k8s.NamedRuleWithOperations => ({
  apiGroups: [group],
  apiVersions: [version],
  operations: ["CREATE", "UPDATE", "DELETE"],
  resources: [...resources],
  scope: "*",
});

const isStore = "request.resource.resource in ['configmaps', 'secrets']";

/** Any one of its marks suffices: if another client removes one of them, the controller can still release the object. */
const isOurs = [
  "request.name.startsWith('janus-journal-')",
  `oldObject.metadata.?labels[?'${MANAGED_BY_LABEL}'].orValue('') == '${MANAGED_BY}'`,
  "'janus.io/transaction-uid' in oldObject.metadata.?labels.orValue({})",
  `oldObject.metadata.?finalizers.orValue([]).exists(name, name == '${SNAPSHOT_FINALIZER}')`,
].join(" || ");

/** The old and the new object. */
const versions = "[oldObject, object].filter(version, version != null)";

/**
 * Rejects writes that the controller never sends as itself, but that its role cannot exclude, because RBAC has no patterns of
 * names: ConfigMaps and Secrets other than its journals and snapshots, tokens of ServiceAccounts, Leases other than its locks and
 * the leader's, any field of a Pod or a Transaction except for metadata. This limits what a stolen token allows.
 *
 * Guarantees: writes of other users are not affected, and neither are those that the controller sends as the ServiceAccount of a
 *             Transaction.
 * Source:     https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
 */
export class ControllerLimits extends Construct {
  constructor(scope: Construct, id: string, props: ControllerLimitsProps = {}) {
    super(scope, id);
    const metadata = { name, labels: controllerLabels };
    const { namespace = SYSTEM_NAMESPACE } = props;
    const { leaseName, leaseNamespace } = leaderElectionOf(props);
    const user = `system:serviceaccount:${namespace}:${serviceAccountNameOf(props)}`;
    new k8s.KubeValidatingAdmissionPolicy(this, "Policy", {
      metadata,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          matchPolicy: "Equivalent",
          namespaceSelector: {},
          objectSelector: {},
          resourceRules: [
            writesOf("", "v1", "configmaps", "secrets", "pods"),
            writesOf("coordination.k8s.io", "*", "leases"),
            writesOf(GROUP, "*", PLURAL),
          ],
        },
        matchConditions: [{ name: "is-the-controller", expression: `request.userInfo.username == '${user}'` }],
        variables: [
          { name: "isStore", expression: isStore },
          { name: "versions", expression: versions },
        ],
        validations: [
          {
            expression: `!variables.isStore || oldObject == null || ${isOurs}`,
            message: "the controller of Janus writes only its own ConfigMaps and Secrets",
          },
          {
            expression: "!variables.isStore || request.name.matches('^janus-journal-[-0-9a-f]+$|-rollback(-[0-9]+)?$')",
            message: "the controller of Janus writes only journals and snapshots",
          },
          {
            expression:
              "request.resource.resource != 'secrets' || variables.versions.all(version, version.type == 'Opaque')",
            message: "the controller of Janus keeps nothing in Secrets but snapshots, and never makes a token",
          },
          {
            expression:
              "request.resource.resource != 'leases' || request.name.startsWith('janus-lock-') || " +
              `(request.namespace == '${leaseNamespace}' && request.name in ['${leaseName}', '${FENCE_CHECK}'])`,
            message: "the controller of Janus writes only its locks and the leader's Lease",
          },
          {
            expression:
              "request.resource.resource != 'pods' || (object != null && oldObject != null && object.spec == oldObject.spec)",
            message: "the controller of Janus only labels Pods",
          },
          {
            expression:
              "request.resource.resource != 'transactions' || object == null || " +
              "(oldObject != null && object.spec == oldObject.spec)",
            message: "the controller of Janus neither makes nor edits nor publishes Transactions",
          },
        ],
      },
    });
    denyByPolicy(this, metadata);
  }
}
