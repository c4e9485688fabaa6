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
module: cloud-provider-dvp
heritage: {{ .root.Release.Service }}
{{- end -}}

{{- /* Nodes become usable by these programs, so they come up on nodes that are not. */ -}}
{{- define "on-masters" -}}
priorityClassName: system-cluster-critical
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
tolerations:
  - operator: Exists
{{- end -}}

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

{{- /* How a program reaches DVP. */ -}}
{{- define "credentials" -}}
- name: DVP_KUBERNETES_CONFIG_BASE64
  valueFrom: {secretKeyRef: {name: dvp-credentials, key: kubernetesConfigBase64}}
- name: DVP_NAMESPACE
  value: {{ required "provider.namespace is missing: the project in DVP" .Values.provider.namespace | quote }}
- name: CLUSTER_UUID
  value: {{ required "clusterUUID is missing: it marks what is the cluster's in DVP" .Values.clusterUUID | quote }}
{{- end -}}

{{- /* An account with a role in the cluster and roles of the same name in namespaces. */ -}}
{{- define "account" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "labels" (dict "root" .root "app" .name) | nindent 4 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: d8:cloud-provider-dvp:{{ .name }}
  labels:
    {{- include "labels" (dict "root" .root "app" .name) | nindent 4 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "d8:cloud-provider-dvp:{{ .name }}"}
subjects:
  - {kind: ServiceAccount, name: {{ .name }}, namespace: {{ .root.Release.Namespace }}}
{{- range .namespaces }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: d8:cloud-provider-dvp:{{ $.name }}
  namespace: {{ . }}
  labels:
    {{- include "labels" (dict "root" $.root "app" $.name) | nindent 4 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: "d8:cloud-provider-dvp:{{ $.name }}"}
subjects:
  - {kind: ServiceAccount, name: {{ $.name }}, namespace: {{ $.root.Release.Namespace }}}
{{- end }}
{{- end -}}

{{- define "deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "labels" (dict "root" .root "app" .name) | nindent 4 }}
spec:
  replicas: {{ ternary (ternary 2 1 .root.Values.highAvailability) 1 (not (get . "alone")) }}
  selector: {matchLabels: {app: {{ .name }}}}
  template:
    metadata:
      labels:
        {{- include "labels" (dict "root" .root "app" .name) | nindent 8 }}
        {{- with get . "podLabels" }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ .name }}
      {{- include "on-masters" .root | nindent 6 }}
      {{- include "pull" .root | nindent 6 }}
      containers:
        - name: {{ get . "container" | default .name }}
          image: {{ include "image" (dict "root" .root "program" .program) }}
          args:
            {{- range .args }}
            - {{ . | quote }}
            {{- end }}
          env:
            {{- include "credentials" .root | nindent 12 }}
          {{- include "confined" . | nindent 10 }}
          ports:
            - {name: health, containerPort: {{ .health }}}
            - {name: metrics, containerPort: {{ .metrics }}}
          readinessProbe: {httpGet: {path: {{ get . "ready" | default "/healthz" }}, port: health}, periodSeconds: 5}
          livenessProbe: {httpGet: {path: /healthz, port: health}, initialDelaySeconds: 15, periodSeconds: 20}
          resources: {requests: {cpu: 20m, memory: 64Mi}}
---
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

{{- /* What lets a program guard its metrics. */ -}}
{{- define "guard-rules" -}}
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end -}}
