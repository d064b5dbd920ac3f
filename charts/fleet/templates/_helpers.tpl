{{/* Registry prefix of images, with its slash. */}}
{{- define "fleet.registry" -}}
{{- if .Values.global.cattle.systemDefaultRegistry -}}{{ .Values.global.cattle.systemDefaultRegistry }}/{{- end -}}
{{- end -}}

{{- define "fleet.image" -}}
{{ include "fleet.registry" . }}{{ .Values.image.repository }}:{{ .Values.image.tag }}
{{- end -}}

{{/* Limits and requests of one container: its own entry, else the top-level ones. Takes a list: root, key. */}}
{{- define "fleet.resources" -}}
{{- $root := index . 0 -}}{{- $key := index . 1 -}}
{{- $all := $root.Values.resources | default dict -}}
{{- $own := dict -}}
{{- if hasKey $all $key -}}
{{- $own = index $all $key | default dict -}}
{{- else -}}
{{- $own = pick $all "limits" "requests" -}}
{{- end -}}
{{- if $own }}
resources:
{{ toYaml $own | indent 2 }}
{{- end -}}
{{- end -}}

{{- define "fleet.containerSecurity" -}}
{{- if not .Values.disableSecurityContext }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  privileged: false
  capabilities:
    drop:
    - ALL
{{- end }}
{{- end -}}

{{- define "fleet.podSecurity" -}}
{{- if not .Values.disableSecurityContext }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
{{- end }}
{{- end -}}

{{/* Where pods run. Takes a list: root, shard. */}}
{{- define "fleet.scheduling" -}}
{{- $root := index . 0 -}}{{- $shard := index . 1 -}}
nodeSelector:
{{ merge (dict "kubernetes.io/os" "linux") (deepCopy ($shard.nodeSelector | default dict)) (deepCopy ($root.Values.nodeSelector | default dict)) | toYaml | indent 2 }}
tolerations:
- key: cattle.io/os
  operator: Equal
  value: linux
  effect: NoSchedule
{{- with $root.Values.tolerations }}
{{ toYaml . }}
{{- end }}
{{- with $root.Values.affinity }}
affinity:
{{ toYaml . | indent 2 }}
{{- end }}
{{- with $root.Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with $root.Values.global.cattle.imagePullSecrets }}
imagePullSecrets:
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "fleet.env.namespace" -}}
- name: NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
{{- end -}}

{{- define "fleet.env.proxy" -}}
{{- if .Values.proxy }}
- name: HTTP_PROXY
  value: {{ .Values.proxy | quote }}
- name: HTTPS_PROXY
  value: {{ .Values.proxy | quote }}
- name: NO_PROXY
  value: {{ .Values.noProxy | quote }}
{{- end }}
{{- if .Values.proxyCACert }}
- name: PROXY_CA_BUNDLE
  value: {{ .Values.proxyCACert | quote }}
{{- end }}
{{- end -}}

{{/* Takes a list: settings, prefix. Empty values are left out. */}}
{{- define "fleet.env.election" -}}
{{- $prefix := index . 1 -}}
{{- with index . 0 }}
{{- if .leaseDuration }}
- name: {{ $prefix }}_ELECTION_LEASE_DURATION
  value: {{ .leaseDuration | quote }}
{{- end }}
{{- if .retryPeriod }}
- name: {{ $prefix }}_ELECTION_RETRY_PERIOD
  value: {{ .retryPeriod | quote }}
{{- end }}
{{- if .renewDeadline }}
- name: {{ $prefix }}_ELECTION_RENEW_DEADLINE
  value: {{ .renewDeadline | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "fleet.env.debug" -}}
{{- if .Values.debug }}
- name: CATTLE_DEV_MODE
  value: "true"
{{- end }}
{{- end -}}

{{- define "fleet.env.extra" -}}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Debug arguments of every process. */}}
{{- define "fleet.args.debug" -}}
{{- if .Values.debug }}
- --debug
- --debug-level
- {{ .Values.debugLevel | quote }}
{{- end }}
{{- end -}}

{{/* The unsharded controller and one more per shard, each id once, as JSON. */}}
{{- define "fleet.shards" -}}
{{- $seen := dict -}}
{{- $shards := list (dict "id" "") -}}
{{- range .Values.shards -}}
{{- $id := toString .id -}}
{{- if not (hasKey $seen $id) -}}
{{- $_ := set $seen $id true -}}
{{- $shards = append $shards (dict "id" $id "nodeSelector" (.nodeSelector | default dict)) -}}
{{- end -}}
{{- end -}}
{{- toJson $shards -}}
{{- end -}}
