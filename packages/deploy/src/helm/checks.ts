import { refusedFlags } from "../controller-flags.ts";

const texts = (all: Readonly<Record<string, string>>): string =>
  Object.entries(all)
    .map((entry) => entry.map((one) => JSON.stringify(one)).join(" "))
    .join(" ");

/**
 * What the constructs refuse and a schema cannot: it compares no values with each other, and says nothing of what to do instead. `tests/deploy/helm-template.test.ts` holds the two
 * against each other.
 */
export const checks = `{{- $refused := dict ${texts(refusedFlags)} }}
{{- range .Values.controller.flags }}
{{- $flag := first (splitList "=" .) }}
{{- with get $refused $flag }}
{{- fail (printf "controller.flags: %s cannot be given here: %s" $flag .) }}
{{- end }}
{{- end }}
{{- $election := .Values.controller.leaderElection }}
{{- if $election.enabled }}
{{- $duration := int $election.leaseDurationSeconds }}
{{- $deadline := int $election.renewDeadlineSeconds }}
{{- $period := int $election.retryPeriodSeconds }}
{{- $write := ternary 1 5 (regexMatch "(^| )--write-timeout" (join " " .Values.controller.flags)) }}
{{- if ge $period $deadline }}
{{- fail (printf "controller.leaderElection.retryPeriodSeconds (%d) must be less than renewDeadlineSeconds (%d)" $period $deadline) }}
{{- end }}
{{- if gt (add $deadline $write) $duration }}
{{- fail (printf "controller.leaderElection.leaseDurationSeconds (%d) must be at least renewDeadlineSeconds (%d) and %d s more, the time of a write" $duration $deadline $write) }}
{{- end }}
{{- else if not (kindIs "invalid" .Values.replicas) }}
{{- if ne (int .Values.replicas) 1 }}
{{- fail (printf "controller.leaderElection.enabled is false and replicas is %d: without leader election there can be only one controller. Leave one of the two out." (int .Values.replicas)) }}
{{- end }}
{{- end }}
{{- $seen := dict .Release.Namespace true }}
{{- range .Values.actsAs }}
{{- if hasKey $seen .namespace }}
{{- fail (printf "actsAs: name the namespace %s once, and not that of the release: the controller itself is in there" .namespace) }}
{{- end }}
{{- $_ := set $seen .namespace true }}
{{- end }}
`;
