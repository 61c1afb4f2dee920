// Constructs that install Janus, for cdk8s apps of operators.
export { type Alert, alerts } from "./alerts.ts";
export { ApprovalPolicy } from "./approval-policy.ts";
export { BlueprintController, type BlueprintControllerProps } from "./blueprint-controller.ts";
export { BlueprintPolicies, type BlueprintPoliciesProps } from "./blueprint-policies.ts";
export { BlueprintRoles, type BlueprintRolesProps } from "./blueprint-roles.ts";
export { BlueprintUserRoles } from "./blueprint-user-roles.ts";
export { BlueprintValidation } from "./blueprint-validation.ts";
export type { Blueprints, BlueprintsProps } from "./blueprints-props.ts";
export { ControllerDeployment, type ControllerDeploymentProps } from "./controller-deployment.ts";
export { ControllerDisruptionBudget, type ControllerDisruptionBudgetProps } from "./controller-disruption-budget.ts";
export type { ControllerFlagsProps, LogLevel } from "./controller-flags.ts";
export { ControllerLimits, type ControllerLimitsProps } from "./controller-limits.ts";
export { ControllerNetworkPolicy, type ControllerNetworkPolicyProps } from "./controller-network-policy.ts";
export type { ControllerPodProps } from "./controller-pod.ts";
export { ControllerRole, type ControllerRoleProps } from "./controller-role.ts";
export { ControllerRoleBinding, type ControllerRoleBindingProps } from "./controller-role-binding.ts";
export { ControllerService, type ControllerServiceProps } from "./controller-service.ts";
export { ControllerServiceAccount, type ControllerServiceAccountProps } from "./controller-service-account.ts";
export { dashboard, drawn } from "./dashboard.ts";
export { FlowControl, type FlowControlProps } from "./flow-control.ts";
export { GitJournalController, type GitJournalControllerProps } from "./git-journal-controller.ts";
export { GitJournalCrds } from "./git-journal-crds.ts";
export type { GitJournalFlagsProps } from "./git-journal-flags.ts";
export { GitJournalPolicies, type GitJournalPoliciesProps } from "./git-journal-policies.ts";
export type { GitJournal, GitJournalProps, GitJournalWebhook, JournaledResources } from "./git-journal-props.ts";
export { GitJournalRoles, type GitJournalRolesProps } from "./git-journal-roles.ts";
export { GitJournalUserRoles } from "./git-journal-user-roles.ts";
export { GitJournalWebhookConfiguration, type GitJournalWebhookProps } from "./git-journal-webhook.ts";
export { GrafanaDashboard } from "./grafana-dashboard.ts";
export {
  type ActsAs,
  type ActsAsProps,
  ImpersonationRoles,
  type ImpersonationRolesProps,
} from "./impersonation-roles.ts";
export { installation } from "./installation.ts";
export { Janus, type JanusProps } from "./janus.ts";
export { JanusNamespace, type JanusNamespaceProps } from "./janus-namespace.ts";
export type { LeaderElection, LeaderElectionProps } from "./leader-election.ts";
export { KanisterCrds } from "./kanister-crds.ts";
export { LeaderFence, type LeaderFenceProps } from "./leader-fence.ts";
export { LeaderLabelRole, type LeaderLabelRoleProps } from "./leader-label-role.ts";
export { MetricsReaderRole } from "./metrics-reader-role.ts";
export { MetricsService, type MetricsServiceProps } from "./metrics-service.ts";
export { Monitoring, type MonitoringProps } from "./monitoring.ts";
export type { NamespacedProps } from "./namespaced.ts";
export { PrometheusRule, type PrometheusRuleProps } from "./prometheus-rule.ts";
export type { Readiness, ReadinessProps } from "./readiness.ts";
export { type Manifest, render, yaml } from "./render.ts";
export { RequesterPolicy } from "./requester-policy.ts";
export type { ServiceAccountProps } from "./service-account.ts";
export { ServiceMonitor, type ServiceMonitorProps } from "./service-monitor.ts";
export { StampsPolicy } from "./stamps-policy.ts";
export { TransactionCrd } from "./transaction-crd.ts";
export { TransactionRoles, type TransactionRolesProps } from "./transaction-roles.ts";
export { UserStamps } from "./user-stamps.ts";
