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

{{- define "janus.blueprintsSelectorLabels" -}}
app.kubernetes.io/component: blueprints
app.kubernetes.io/name: {{ include "janus.name" . | quote }}
app.kubernetes.io/part-of: janus
{{- end }}

{{- define "janus.gitJournalSelectorLabels" -}}
app.kubernetes.io/component: git-journal
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

{{- define "janus.blueprintsLabels" -}}
{{- toYaml (merge (include "janus.blueprintsSelectorLabels" . | fromYaml) (include "janus.labels" . | fromYaml)) -}}
{{- end }}

{{- define "janus.gitJournalLabels" -}}
{{- toYaml (merge (include "janus.gitJournalSelectorLabels" . | fromYaml) (include "janus.labels" . | fromYaml)) -}}
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
{{- toYaml (merge (.selectorLabels | fromYaml) .root.Values.podLabels .root.Values.commonLabels) -}}
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

{{/*
The Pod of a controller, whichever it is. root: the context; selectorLabels, serviceAccountName, args (as YAML), resources; namesPod:
whether it is given its name; image, ports and volumes (each with its mountPath): those of its own, if it has any.
*/}}
{{- define "janus.pod" -}}
metadata:
  labels:
    {{- include "janus.podLabels" . | nindent 4 }}
  {{- with include "janus.podAnnotations" .root }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ .serviceAccountName | quote }}
  automountServiceAccountToken: true
  enableServiceLinks: false
  {{- with $.root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $.root.Values.priorityClassName }}
  priorityClassName: {{ . | quote }}
  {{- end }}
  nodeSelector:
    {{- toYaml $.root.Values.nodeSelector | nindent 4 }}
  {{- with $.root.Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $.root.Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if kindIs "invalid" $.root.Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
    - topologyKey: {{ . }}
      maxSkew: 1
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- $.selectorLabels | nindent 10 }}
      # Else the Pods of the version before count, too, and those of the new one end up together.
      matchLabelKeys: ["pod-template-hash"]
    {{- end }}
  {{- else }}
  {{- with $.root.Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    seccompProfile:
      type: RuntimeDefault
  containers:
    - name: controller
      image: {{ .image | default (include "janus.image" .root) | quote }}
      imagePullPolicy: {{ $.root.Values.image.pullPolicy }}
      args:
        {{- .args | nindent 8 }}
      env:
        {{- if .namesPod }}
        - name: POD_NAME
          valueFrom:
            fieldRef:
              fieldPath: metadata.name
        {{- end }}
        - name: POD_NAMESPACE
          valueFrom:
            fieldRef:
              fieldPath: metadata.namespace
        {{- with $.root.Values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        - name: http
          containerPort: 8080
        {{- with .ports }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      livenessProbe:
        httpGet:
          path: /healthz
          port: http
        periodSeconds: 10
        timeoutSeconds: 5
      readinessProbe:
        httpGet:
          path: /readyz
          port: http
        periodSeconds: 10
        timeoutSeconds: 5
      resources:
        {{- toYaml .resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: ["ALL"]
      {{- with .volumes }}
      volumeMounts:
        {{- range . }}
        - name: {{ .name }}
          mountPath: {{ .mountPath }}
        {{- end }}
      {{- end }}
  {{- with .volumes }}
  volumes:
    {{- range . }}
    - {{- omit . "mountPath" | toYaml | nindent 6 }}
    {{- end }}
  {{- end }}
{{- end }}

{{/*
How a controller besides that of Transactions is deployed: what janus.pod takes, and replicas.
*/}}
{{- define "janus.furtherDeployment" -}}
replicas: {{ int .replicas }}
selector:
  matchLabels:
    {{- .selectorLabels | nindent 4 }}
strategy:
  type: RollingUpdate
  rollingUpdate:
    maxUnavailable: 0
    maxSurge: 1
template:
  {{- include "janus.pod" . | nindent 2 }}
{{- end }}

{{/*
Whom the Pods of a controller may reach, and who may reach them. root: the context; served: names of ports that the API server reaches,
reached: ports that they reach, wherever they are; peers: names of ports by which those with these labels reach each other.
*/}}
{{- define "janus.networkRules" -}}
policyTypes: ["Ingress", "Egress"]
ingress:
  - ports:
      - protocol: TCP
        port: http
    {{- with .root.Values.networkPolicy.clients }}
    from:
      {{- toYaml . | nindent 6 }}
    {{- end }}
  {{- range .served }}
  - ports:
      - protocol: TCP
        port: {{ . }}
  {{- end }}
egress:
  # The API server.
  - ports:
      {{- range .root.Values.networkPolicy.apiServerPorts }}
      - protocol: TCP
        port: {{ int . }}
      {{- end }}
    {{- with .root.Values.networkPolicy.apiServerCidrs }}
    to:
      {{- range . }}
      - ipBlock:
          cidr: {{ . | quote }}
      {{- end }}
    {{- end }}
  # DNS, which some clusters need to find it.
  - ports:
      - protocol: UDP
        port: 53
      - protocol: TCP
        port: 53
  {{- with .reached }}
  - ports:
      {{- range . }}
      - protocol: TCP
        port: {{ int . }}
      {{- end }}
  {{- end }}
  {{- range .peers }}
  - ports:
      - protocol: TCP
        port: {{ . }}
    to:
      - podSelector:
          matchLabels:
            {{- include $.labels $.root | nindent 12 }}
  {{- end }}
{{- end }}

{{/*
Rejects writes of a stale leader: those with a term other than that of the leader's Lease. It is kept when the release is
uninstalled: if it was deleted and installed again, a running API server would compare with an old Lease.
Given: name, key (the user extra with the term), labels, lease and namespace.
*/}}
{{- define "janus.fence" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ .name }}
  labels:
    {{- .labels | nindent 4 }}
  annotations:
    helm.sh/resource-policy: keep
spec:
  # Fail would stop every write in the cluster when there is no Lease.
  failurePolicy: Ignore
  paramKind:
    apiVersion: coordination.k8s.io/v1
    kind: Lease
  matchConstraints:
    matchPolicy: Equivalent
    namespaceSelector: {}
    objectSelector: {}
    resourceRules:
      - apiGroups: ["*"]
        apiVersions: ["*"]
        operations: ["CREATE", "UPDATE", "DELETE"]
        resources: ["*/*"]
        scope: "*"
  matchConditions:
    - name: bears-a-token
      expression: "has(request.userInfo.extra) && '{{ .key }}' in request.userInfo.extra"
  validations:
    - expression: >-
        request.userInfo.extra['{{ .key }}'].size() == 1 &&
        (request.userInfo.extra['{{ .key }}'][0] + '/').startsWith((has(params.spec.holderIdentity) ? params.spec.holderIdentity : '')
        + '/' + string(has(params.spec.leaseTransitions) ? params.spec.leaseTransitions : 0) + '/')
      message: "{{ .key }}: this write was decided by a leader of Janus whose term is over"
      messageExpression: "'{{ .key }}: this write was decided by a leader of Janus whose term is over: ' + request.userInfo.extra['{{ .key }}'][0]"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ .name }}
  labels:
    {{- .labels | nindent 4 }}
  annotations:
    helm.sh/resource-policy: keep
spec:
  policyName: {{ .name }}
  validationActions: ["Deny"]
  paramRef:
    name: {{ .lease | quote }}
    namespace: {{ .namespace | quote }}
    parameterNotFoundAction: Allow
{{- end }}
