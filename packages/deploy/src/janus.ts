import { Construct } from "constructs";
import { ControllerDeployment } from "./controller-deployment.ts";
import { ControllerRole } from "./controller-role.ts";
import { ControllerRoleBinding } from "./controller-role-binding.ts";
import { ControllerServiceAccount } from "./controller-service-account.ts";
import { JanusNamespace } from "./janus-namespace.ts";
import { LeaderFence } from "./leader-fence.ts";
import { TransactionCrd } from "./transaction-crd.ts";
import { TransactionRoles } from "./transaction-roles.ts";

export interface JanusProps {
  /**
   * Namespace that the controller runs in; it is made along with it.
   * @default "janus-system"
   */
  readonly namespace?: string;
  /**
   * Image of the controller, with tag or digest.
   * @default "ghcr.io/janus-project/janus:0.1.0"
   */
  readonly image?: string;
}

/**
 * Everything that a cluster needs to run Transactions, in the order in which it is applied. Each part also works alone.
 *
 * The parts use the plain (L1) constructs: what one reads here is what is printed, without the defaults of the richer ones
 * (a request of a whole CPU, no ServiceAccount token, generated labels and names).
 */
export class Janus extends Construct {
  constructor(scope: Construct, id: string, props: JanusProps = {}) {
    super(scope, id);
    new JanusNamespace(this, "Namespace", props);
    new TransactionCrd(this, "TransactionCrd");
    new ControllerServiceAccount(this, "ServiceAccount", props);
    new ControllerRole(this, "Role");
    new ControllerRoleBinding(this, "RoleBinding", props);
    new TransactionRoles(this, "TransactionRoles");
    new LeaderFence(this, "Fence", props);
    new ControllerDeployment(this, "Deployment", props);
  }
}
