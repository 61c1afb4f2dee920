// The construct with everything that a cluster needs to run Transactions.
import { Construct } from "constructs";
import { ApprovalPolicy } from "./approval-policy.ts";
import { BlueprintController } from "./blueprint-controller.ts";
import { BlueprintUserRoles } from "./blueprint-user-roles.ts";
import type { Blueprints } from "./blueprints-props.ts";
import { ControllerDeployment, type ControllerDeploymentProps } from "./controller-deployment.ts";
import { ControllerDisruptionBudget, type ControllerDisruptionBudgetProps } from "./controller-disruption-budget.ts";
import { ControllerLimits } from "./controller-limits.ts";
import { ControllerNetworkPolicy, type ControllerNetworkPolicyProps } from "./controller-network-policy.ts";
import { ControllerRole } from "./controller-role.ts";
import { ControllerRoleBinding } from "./controller-role-binding.ts";
import { ControllerService } from "./controller-service.ts";
import { ControllerServiceAccount } from "./controller-service-account.ts";
import { FlowControl } from "./flow-control.ts";
import { GitJournalController } from "./git-journal-controller.ts";
import { GitJournalCrds } from "./git-journal-crds.ts";
import type { GitJournal } from "./git-journal-props.ts";
import { GitJournalUserRoles } from "./git-journal-user-roles.ts";
import { type ActsAsProps, ImpersonationRoles } from "./impersonation-roles.ts";
import { JanusNamespace } from "./janus-namespace.ts";
import { KanisterCrds } from "./kanister-crds.ts";
import { LeaderFence } from "./leader-fence.ts";
import { LeaderLabelRole } from "./leader-label-role.ts";
import { MetricsReaderRole } from "./metrics-reader-role.ts";
import { MetricsService } from "./metrics-service.ts";
import { Monitoring, type MonitoringProps } from "./monitoring.ts";
import { marksLeader } from "./readiness.ts";
import { RequesterPolicy } from "./requester-policy.ts";
import { StampsPolicy } from "./stamps-policy.ts";
import { TransactionCrd } from "./transaction-crd.ts";
import { TransactionRoles, type TransactionRolesProps } from "./transaction-roles.ts";
import { UserStamps } from "./user-stamps.ts";

export interface JanusProps
  extends ControllerDeploymentProps,
    ControllerNetworkPolicyProps,
    ControllerDisruptionBudgetProps,
    TransactionRolesProps,
    ActsAsProps,
    Omit<MonitoringProps, "metricsAuth"> {
  /**
   * Whether annotations of each Transaction name the users who created, edited, moved and approved it, and requested its
   * rollback, whatever their clients say. Requires Kubernetes 1.36 or newer.
   * @default false
   */
  readonly stampsUsers?: boolean;
  /**
   * Whether there is a NetworkPolicy.
   * @default true
   */
  readonly networkPolicy?: boolean;
  /**
   * Whether the CustomResourceDefinition is among the objects. Otherwise it must exist.
   * @default true
   */
  readonly crd?: boolean;
  /**
   * Whether there are ServiceMonitor, PrometheusRule and Grafana dashboard. Requires the CRDs of the Prometheus Operator.
   * @default false
   */
  readonly monitoring?: boolean;
  /**
   * The Blueprint controller, which executes Kanister's ActionSets. `crds: false`: the CustomResourceDefinitions of Kanister's kinds
   * are not among the objects, and must exist.
   * @default - none
   */
  readonly blueprints?: Blueprints & { readonly crds?: boolean };
  /**
   * The controller of the Git journal, which writes the live cluster to Git. `crds: false`: the CustomResourceDefinitions of its kinds are
   * not among the objects, and must exist.
   * @default - none
   */
  readonly gitJournal?: GitJournal & { readonly crds?: boolean };
}

/**
 * Everything that a cluster needs to run Transactions, in the order in which it is applied. Each part also works alone.
 *
 * The parts use the plain (L1) constructs, which print exactly what they are given, without the defaults of the L2 constructs (a
 * request of a whole CPU, no ServiceAccount token, generated labels and names).
 */
export class Janus extends Construct {
  constructor(scope: Construct, id: string, props: JanusProps = {}) {
    super(scope, id);
    new JanusNamespace(this, "Namespace", props);
    if (props.crd !== false) new TransactionCrd(this, "TransactionCrd");
    if (props.blueprints !== undefined && props.blueprints.crds !== false) new KanisterCrds(this, "KanisterCrds");
    if (props.gitJournal !== undefined && props.gitJournal.crds !== false) new GitJournalCrds(this, "GitJournalCrds");
    if (props.serviceAccount?.create !== false) new ControllerServiceAccount(this, "ServiceAccount", props);
    new ControllerRole(this, "Role", props);
    new ControllerRoleBinding(this, "RoleBinding", props);
    if (marksLeader(props)) new LeaderLabelRole(this, "LeaderLabelRole", props);
    new ImpersonationRoles(this, "ImpersonationRoles", props);
    if (props.metricsAuth === true) new MetricsReaderRole(this, "MetricsReaderRole");
    new TransactionRoles(this, "TransactionRoles", props);
    if (props.blueprints !== undefined) new BlueprintUserRoles(this, "BlueprintUserRoles", props);
    if (props.gitJournal !== undefined) new GitJournalUserRoles(this, "GitJournalUserRoles", props);
    new LeaderFence(this, "Fence", props);
    new ControllerLimits(this, "Limits", props);
    // First, so that there is no moment without it in an upgrade from where the next one compared names.
    new StampsPolicy(this, "StampsPolicy");
    new RequesterPolicy(this, "RequesterPolicy");
    if (props.stampsUsers === true) new UserStamps(this, "UserStamps");
    new ApprovalPolicy(this, "ApprovalPolicy");
    new FlowControl(this, "FlowControl", props);
    if (props.networkPolicy !== false) new ControllerNetworkPolicy(this, "NetworkPolicy", props);
    new ControllerService(this, "Service", props);
    // A budget counts ready Pods, and would never allow the eviction of the only ready one.
    if (props.readiness !== "leader" && props.podDisruptionBudget?.enabled !== false)
      new ControllerDisruptionBudget(this, "DisruptionBudget", props);
    new ControllerDeployment(this, "Deployment", props);
    if (props.blueprints !== undefined) new BlueprintController(this, "Blueprints", props);
    if (props.gitJournal !== undefined) new GitJournalController(this, "GitJournal", props);
    if (props.monitoring === true) new Monitoring(this, "Monitoring", props);
    if (props.monitoring === true && props.blueprints !== undefined)
      new MetricsService(this, "BlueprintsMetrics", { ...props, component: "blueprints" });
    if (props.monitoring === true && props.gitJournal !== undefined)
      new MetricsService(this, "GitJournalMetrics", { ...props, component: "git-journal" });
  }
}
