{{- define "sealward.labels" -}}
{{ include "sealward.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "sealward.selector" -}}
app.kubernetes.io/name: sealward
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "sealward.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (ternary .Release.Name "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "sealward.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{/* The specification of a pod that runs `command`: (dict "root" $ "command" "serve" "settings" NAME). */}}
{{- define "sealward.pod" -}}
{{- $root := .root -}}
{{- $command := .command -}}
{{- /* `init` needs what `serve` has: the token and the login of the service. */}}
{{- $mounts := ternary "serve" $command (eq $command "init") -}}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with $root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- if eq $mounts "serve" }}
{{- with $root.Values.initContainers }}
initContainers:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
containers:
  - name: sealward
    image: {{ include "sealward.image" $root | quote }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args: [{{ $command }}]
    env:
      - name: SEALWARD_CONFIG
        value: /etc/sealward/settings/sealward.toml
      {{- with $root.Values.env }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }
    {{- if eq $command "serve" }}
    ports:
      - { name: https, containerPort: 8443 }
      - { name: probes, containerPort: 8081 }
      - { name: metrics, containerPort: 9464 }
    startupProbe:
      httpGet: { path: /livez, port: probes }
      periodSeconds: 2
      failureThreshold: 60
    livenessProbe:
      httpGet: { path: /livez, port: probes }
      periodSeconds: 10
      failureThreshold: 6
    readinessProbe:
      httpGet: { path: /readyz, port: probes }
      periodSeconds: 2
    {{- end }}
    resources:
      {{- toYaml $root.Values.resources | nindent 6 }}
    volumeMounts:
      - name: settings
        mountPath: /etc/sealward/settings
        readOnly: true
      {{- range $name, $volume := $root.Values.volumes }}
      {{- if and $volume (has $mounts $volume.commands) }}
      - name: {{ $name }}
        mountPath: {{ $volume.mountPath }}
        readOnly: {{ dig "readOnly" true $volume }}
      {{- end }}
      {{- end }}
volumes:
  - name: settings
    configMap: { name: {{ .settings }} }
  {{- range $name, $volume := $root.Values.volumes }}
  {{- if and $volume (has $mounts $volume.commands) }}
  - name: {{ $name }}
    {{- toYaml $volume.source | nindent 4 }}
  {{- end }}
  {{- end }}
{{- end }}
