{{- /* The image of a program of ours. */ -}}
{{- define "image" -}}
{{ required "registry is missing: where the images are" .root.Values.registry }}/{{ .program }}:{{ required "tag is missing: the version of the images" .root.Values.tag }}
{{- end -}}

{{- define "pull" -}}
{{- with .Values.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "labels" -}}
app: {{ .app }}
module: node-manager
heritage: {{ .root.Release.Service }}
{{- end -}}

{{- /* Pods that run on masters come up while nothing else has, and so tolerate all. */ -}}
{{- define "on-masters" -}}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
tolerations:
  - operator: Exists
{{- end -}}

{{- /* What a program needs that only speaks to the network. */ -}}
{{- define "confined" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  runAsUser: 64535
  runAsGroup: 64535
  capabilities: {drop: [ALL]}
  seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "own-name" -}}
valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
{{- end -}}

{{- /* A certificate as programs mount it. */ -}}
{{- define "certificate" -}}
apiVersion: v1
kind: Secret
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "labels" (dict "root" .root "app" .app) | nindent 4 }}
type: kubernetes.io/tls
data:
  tls.crt: {{ required (printf "certificates.%s.crt is missing" .key) .certificate.crt | b64enc }}
  tls.key: {{ required (printf "certificates.%s.key is missing" .key) .certificate.key | b64enc }}
{{- end -}}

{{- /* An account and the roles that it has: its own in the cluster, and in namespaces. */ -}}
{{- define "account" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "labels" (dict "root" .root "app" .name) | nindent 4 }}
{{- range .clusterRoles }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ printf "d8:node-manager:%s%s" $.name (eq . (printf "d8:node-manager:%s" $.name) | ternary "" (printf ":%s" (. | replace "system:" ""))) }}
  labels:
    {{- include "labels" (dict "root" $.root "app" $.name) | nindent 4 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ . | quote }}}
subjects:
  - {kind: ServiceAccount, name: {{ $.name }}, namespace: {{ $.root.Release.Namespace }}}
{{- end }}
{{- range $namespace, $role := .roles }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ printf "d8:node-manager:%s" $.name }}
  namespace: {{ $namespace }}
  labels:
    {{- include "labels" (dict "root" $.root "app" $.name) | nindent 4 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ $role | quote }}}
subjects:
  - {kind: ServiceAccount, name: {{ $.name }}, namespace: {{ $.root.Release.Namespace }}}
{{- end }}
{{- end -}}

{{- /* Who may read the metrics of a deployment or daemonset; the monitoring binds its own account to it. */ -}}
{{- define "metrics" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: access-to-{{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "labels" (dict "root" .root "app" .name) | nindent 4 }}
rules:
  - apiGroups: [apps]
    resources: [{{ .kind }}/prometheus-metrics]
    resourceNames: [{{ .name }}]
    verbs: [get]
{{- end -}}

{{- /* One pod at a time may be evicted: with one replica as well, or no master could be drained. */ -}}
{{- define "disruption" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "labels" (dict "root" .root "app" .name) | nindent 4 }}
spec:
  maxUnavailable: 1
  selector: {matchLabels: {app: {{ .name }}}}
{{- end -}}
