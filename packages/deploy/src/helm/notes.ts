/** What Helm prints after an installation or an upgrade. */
export const notes = `Janus {{ .Chart.AppVersion }} runs in the namespace {{ .Release.Namespace }}:

  kubectl rollout status -n {{ .Release.Namespace }} deployment/janus-controller
{{- with .Values.controller.leaderElection }}
{{- if .enabled }}
  kubectl get lease -n {{ default $.Release.Namespace .leaseNamespace }} {{ .leaseName }}   # who leads
{{- if eq $.Values.controller.readiness "leader" }}

Only the leader is ever ready (controller.readiness): rollout status, and helm with --wait, do not come to their end.
{{- end }}
{{- end }}
{{- end }}

Whoever may edit a namespace can create Transactions in it:

  kubectl explain transaction.spec

Before you uninstall it, have no Transaction under way: each holds a finalizer that only the controller takes off.
The CustomResourceDefinition, and with it all Transactions, stays when the release is uninstalled, as does the fence.
`;
