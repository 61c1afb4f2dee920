import { k8s } from "cdk8s-plus-30";
import { Construct } from "constructs";
import { controllerLabels } from "./labels.ts";
import { leaderElectionOf, type LeaderElectionProps } from "./leader-election.ts";
import type { NamespacedProps } from "./namespaced.ts";

export interface LeaderFenceProps extends NamespacedProps, LeaderElectionProps {}

const name = "janus-fence";
const key = "janus.io/fence";

/** The term, and after it what is of one request alone: by that the controller knows the refusal, which repeats it. */
const token = `request.userInfo.extra['${key}']`;
const over = `${key}: this write was decided by a leader of Janus whose term is over`;

/** What the Lease says now, in the form of the token's beginning. A Lease that was released has no holder, and no token fits it. */
const term =
  "(has(params.spec.holderIdentity) ? params.spec.holderIdentity : '') + '/' + " +
  "string(has(params.spec.leaseTransitions) ? params.spec.leaseTransitions : 0)";

/**
 * Refuses what a leader writes to targets when its term is over: also when it was paused right before the write, and has
 * noticed nothing.
 *
 * Guarantees: a write that carries the token of another term than that of the Lease is refused. Writes without a token,
 *             which are everybody else's, are let through, and so is everything while there is no Lease: the parameter is
 *             looked up before the match conditions, so that a stricter policy would stop every write in the cluster.
 *             Admission policies themselves are beyond it.
 * Source:     https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#parameter-resources
 */
export class LeaderFence extends Construct {
  constructor(scope: Construct, id: string, props: LeaderFenceProps = {}) {
    super(scope, id);
    const metadata = { name, labels: controllerLabels };
    const { leaseName, leaseNamespace } = leaderElectionOf(props);
    new k8s.KubeValidatingAdmissionPolicy(this, "Policy", {
      metadata,
      spec: {
        failurePolicy: "Ignore",
        paramKind: { apiVersion: "coordination.k8s.io/v1", kind: "Lease" },
        // With the API server's defaults spelt out: it is applied as a whole, and two who apply it must not disagree.
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
    new k8s.KubeValidatingAdmissionPolicyBinding(this, "Binding", {
      metadata,
      spec: {
        policyName: name,
        validationActions: ["Deny"],
        paramRef: {
          name: leaseName,
          namespace: leaseNamespace,
          parameterNotFoundAction: "Allow",
        },
      },
    });
  }
}
