{{/* The label app.kubernetes.io/name. */}}
{{- define "janus.name" -}}
{{- .Values.nameOverride | default .Chart.Name -}}
{{- end }}

{{/* Name of the Deployment and of what belongs to it. Not that of the release: there is one installation in a cluster. */}}
{{- define "janus.fullname" -}}
{{- .Values.fullnameOverride | default (printf "%s-controller" (include "janus.name" .)) -}}
{{- end }}

{{- define "janus.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (include "janus.fullname" .) -}}
{{- end }}

{{/* What Pods are selected by. It cannot change: the selector of a Deployment is immutable. */}}
{{- define "janus.selectorLabels" -}}
app.kubernetes.io/component: controller
app.kubernetes.io/name: {{ include "janus.name" . | quote }}
app.kubernetes.io/part-of: janus
{{- end }}

{{/* What the ServiceMonitor selects the Service by. */}}
{{- define "janus.metricsSelectorLabels" -}}
app.kubernetes.io/component: metrics
app.kubernetes.io/name: {{ include "janus.name" . | quote }}
app.kubernetes.io/part-of: janus
{{- end }}

{{/* Of every object. The chart's own win over commonLabels. */}}
{{- define "janus.labels" -}}
{{- $own := dict
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-")
  "app.kubernetes.io/name" (include "janus.name" .)
  "app.kubernetes.io/instance" .Release.Name
  "app.kubernetes.io/version" (.Chart.AppVersion | replace "+" "_")
  "app.kubernetes.io/managed-by" .Release.Service
  "app.kubernetes.io/part-of" "janus"
-}}
{{- toYaml (merge $own .Values.commonLabels) -}}
{{- end }}

{{- define "janus.controllerLabels" -}}
{{- toYaml (merge (include "janus.selectorLabels" . | fromYaml) (include "janus.labels" . | fromYaml)) -}}
{{- end }}

{{- define "janus.metricsLabels" -}}
{{- toYaml (merge (include "janus.metricsSelectorLabels" . | fromYaml) (include "janus.labels" . | fromYaml)) -}}
{{- end }}

{{/* Of what the Prometheus Operator selects. */}}
{{- define "janus.prometheusLabels" -}}
{{- toYaml (mergeOverwrite (include "janus.metricsLabels" . | fromYaml) .Values.monitoring.prometheusLabels) -}}
{{- end }}

{{/* Without those that change with each version of the chart, so that a new chart alone starts no Pods. */}}
{{- define "janus.podLabels" -}}
{{- toYaml (merge (include "janus.selectorLabels" . | fromYaml) .Values.podLabels .Values.commonLabels) -}}
{{- end }}

{{/* What Prometheus configurations that look at annotations of Pods go by. podAnnotations win. */}}
{{- define "janus.podAnnotations" -}}
{{- $scraped := dict "prometheus.io/scrape" "true" "prometheus.io/port" "8080" "prometheus.io/path" "/metrics" }}
{{- $all := mergeOverwrite (ternary dict $scraped .Values.controller.metricsAuth) .Values.podAnnotations }}
{{- with $all }}{{ toYaml . }}{{ end -}}
{{- end }}

{{- define "janus.image" -}}
{{- $repository := required "image.repository is required: there is no public image of Janus. Build it (docs/install.md), push it to a registry of yours, and say which: --set image.repository=registry.example.com/janus" .Values.image.repository }}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{/* Without leader election there can be only one: validate.yaml refuses others. */}}
{{- define "janus.replicas" -}}
{{- if not (kindIs "invalid" .Values.replicaCount) -}}
{{ int .Values.replicaCount }}
{{- else if .Values.controller.leaderElection.enabled -}}
2
{{- else -}}
1
{{- end }}
{{- end }}

{{- define "janus.leaseNamespace" -}}
{{- .Values.controller.leaderElection.leaseNamespace | default .Release.Namespace -}}
{{- end }}

{{/* Whether the leader labels its own Pod, because readiness does not distinguish it from the others. Empty: no. */}}
{{- define "janus.labelsLeader" -}}
{{- if and .Values.controller.leaderElection.enabled (eq .Values.controller.readiness "any") }}true{{ end -}}
{{- end }}

{{/* A number, or a text such as 50%. */}}
{{- define "janus.intOrString" -}}
{{- if kindIs "string" . }}{{ quote . }}{{ else }}{{ int . }}{{ end -}}
{{- end }}
