// The admission policies that reject writes of a leader whose term is over.
import { FENCE_KEY, POLICIES } from "@janus/api";
import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { denyByPolicy } from "./deny-by-policy.ts";
import { controllerLabels } from "./labels.ts";
import { leaderElectionOf, type LeaderElectionProps } from "./leader-election.ts";
import type { NamespacedProps } from "./namespaced.ts";

export interface LeaderFenceProps extends NamespacedProps, LeaderElectionProps {}

/** The fence of a controller. */
export interface Fence {
  /** Of the policy. */
  readonly name: string;
  /** The user extra with the token. */
  readonly key: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The Lease of the leader. */
  readonly lease: { readonly name: string; readonly namespace: string };
}

/** The current term of the Lease, in the form of the token's beginning. A released Lease has no holder, and no token matches it. */
const term =
  "(has(params.spec.holderIdentity) ? params.spec.holderIdentity : '') + '/' + " +
  "string(has(params.spec.leaseTransitions) ? params.spec.leaseTransitions : 0)";

/**
 * Rejects writes of a stale leader that it makes as others, even if it was paused right before the write and has not noticed the
 * end of its term.
 *
 * Guarantees: a write with the token of a term other than that of the Lease is rejected. Writes without a token, those of all other
 *             clients, are admitted, and so is every write while there is no Lease: the parameter is resolved before the match
 *             conditions, so that a stricter policy would block every write in the cluster. It does not apply to admission
 *             policies themselves.
 * Source:     https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#parameter-resources
 */
export const fencePolicy = (scope: Construct, { name, key, labels, lease }: Fence): void => {
  const metadata = { name, labels: { ...labels } };
  // The term, followed by the random part of the request: the rejection repeats it, so that the controller recognises it.
  const token = `request.userInfo.extra['${key}']`;
  const over = `${key}: this write was decided by a leader of Janus whose term is over`;
  new k8s.KubeValidatingAdmissionPolicy(scope, "Policy", {
    metadata,
    spec: {
      failurePolicy: "Ignore",
      paramKind: { apiVersion: "coordination.k8s.io/v1", kind: "Lease" },
      // With the API server's defaults set explicitly: the field is atomic, and two managers that apply it must not conflict.
      matchConstraints: {
        matchPolicy: "Equivalent",
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [
          {
            apiGroups: ["*"],
            apiVersions: ["*"],
            operations: ["CREATE", "UPDATE", "DELETE"],
            resources: ["*/*"],
            scope: "*",
          },
        ],
      },
      matchConditions: [
        {
          name: "bears-a-token",
          expression: `has(request.userInfo.extra) && '${key}' in request.userInfo.extra`,
        },
      ],
      validations: [
        {
          expression: `${token}.size() == 1 && (${token}[0] + '/').startsWith(${term} + '/')`,
          message: over,
          messageExpression: `'${over}: ' + ${token}[0]`,
        },
      ],
    },
  });
  denyByPolicy(scope, metadata, { ...lease, parameterNotFoundAction: "Allow" });
};

/** The fence of the Transaction controller: it rejects writes of a stale leader to targets; see {@link fencePolicy}. */
export class LeaderFence extends Construct {
  constructor(scope: Construct, id: string, props: LeaderFenceProps = {}) {
    super(scope, id);
    const { leaseName, leaseNamespace } = leaderElectionOf(props);
    const lease = { name: leaseName, namespace: leaseNamespace };
    fencePolicy(this, { name: POLICIES.fence, key: FENCE_KEY, labels: controllerLabels, lease });
  }
}
