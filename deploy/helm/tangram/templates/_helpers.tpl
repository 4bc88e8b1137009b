{{/* SPDX-License-Identifier: Apache-2.0 */}}

{{/* How pods get the gate on this server: mutating or validating. */}}
{{- define "tangram.gate" -}}
{{- if ne .Values.policies.gate "auto" -}}
{{ .Values.policies.gate }}
{{- else if .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy" -}}
mutating
{{- else -}}
validating
{{- end -}}
{{- end -}}

{{/* tangram.image: (dict "root" $ "name" PROGRAM) */}}
{{- define "tangram.image" -}}
{{ .root.Values.image.registry }}/{{ .name }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end -}}

{{- define "tangram.labels" -}}
app.kubernetes.io/part-of: tangram
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* tangram.pod: what both pods say alike; (dict "root" $ "part" .Values.PART) */}}
{{- define "tangram.pod" -}}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . }}
{{- end }}
{{- end }}
{{- with .part.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .part.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .part.tolerations }}
tolerations: {{- toYaml . | nindent 0 }}
{{- end }}
{{- end -}}

{{/* A loop that hangs does not answer: liveness asks for it, readiness for what would be served. */}}
{{- define "tangram.probes" -}}
ports:
- {name: health, containerPort: {{ .healthPort }}}
livenessProbe:
  httpGet: {path: /healthz, port: health}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
  # Who does not answer will not hear that it should end.
  terminationGracePeriodSeconds: 5
readinessProbe:
  httpGet: {path: /readyz, port: health}
  periodSeconds: 5
startupProbe:
  httpGet: {path: /healthz, port: health}
  periodSeconds: 1
  failureThreshold: 60
{{- end -}}
