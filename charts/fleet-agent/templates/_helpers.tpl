{{- define "fleet.registry" -}}
{{- if .Values.global.cattle.systemDefaultRegistry -}}{{ .Values.global.cattle.systemDefaultRegistry }}/{{- end -}}
{{- end -}}
