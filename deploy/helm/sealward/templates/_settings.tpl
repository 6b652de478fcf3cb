{{/* The settings file in TOML: values without a section first, then one section for each map. */}}
{{- define "sealward.settings" -}}
{{- range $name, $value := .Values.settings }}
{{- if not (or (kindIs "map" $value) (kindIs "invalid" $value)) }}
{{ $name }} = {{ include "sealward.toml" $value }}
{{- end }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{- if kindIs "map" $value }}

[{{ $name }}]
{{- range $setting, $inner := $value }}
{{- if not (kindIs "invalid" $inner) }}
{{ $setting }} = {{ include "sealward.toml" $inner }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* One value in TOML. Numbers of a values file are floating-point numbers. */}}
{{- define "sealward.toml" -}}
{{- if kindIs "map" . -}}
{ {{- $first := true -}}
{{- range $name, $value := . -}}
{{- if not (kindIs "invalid" $value) -}}
{{- if not $first }},{{ end }} {{ $name }} = {{ include "sealward.toml" $value -}}
{{- $first = false -}}
{{- end -}}
{{- end }} }
{{- else if kindIs "slice" . -}}
[{{- range $place, $value := . -}}{{- if $place }}, {{ end -}}{{ include "sealward.toml" $value }}{{- end -}}]
{{- else if kindIs "string" . -}}
{{ . | toJson }}
{{- else if kindIs "bool" . -}}
{{ . }}
{{- else if eq (float64 .) (float64 (int64 .)) -}}
{{ int64 . }}
{{- else -}}
{{ . }}
{{- end -}}
{{- end }}
