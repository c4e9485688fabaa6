{{- $kubelet := .nodeGroup.kubelet | default dict }}
{{- $root := $kubelet.rootDir | default "/var/lib/kubelet" }}
{{- $package := printf "kubelet%s" (.kubernetesVersion | replace "." "") }}
{{- $reservation := $kubelet.resourceReservation | default dict }}
{{- $topology := $kubelet.topologyManager | default dict }}
{{- $swap := $kubelet.memorySwap | default dict }}
{{- $prefix := .podSubnetNodeCIDRPrefix | default "24" | int }}
{{- $maxPods := 120 }}
{{- if le $prefix 21 }}{{ $maxPods = 1000 }}{{ else if eq $prefix 22 }}{{ $maxPods = 500 }}{{ else if eq $prefix 23 }}{{ $maxPods = 250 }}{{ end }}
changed=no
restart-needed() { changed=yes; }
bb-event-on bb-package-installed restart-needed
bb-package-install {{ printf "kubelet:%s" (required (printf "the digest of %s is missing" $package) (index .images.registrypackages $package)) | squote }}
[[ "$changed" == no ]] || bb-flag-set kubelet-need-restart
need-restart() { bb-flag-set kubelet-need-restart; }
bb-event-on kubelet-changed need-restart

{{- if eq ($reservation.mode | default "Auto") "Auto" }}
# What the system keeps for itself grows with the machine: of memory a quarter of the first 4 GiB, a
# fifth of the next 4, a tenth of the next 8, 6 % up to 128 GiB and 2 % of the rest; of processors
# 6 % of the first, 1 % of the second, 0.5 % of the next two and 0.25 % of the others.
share() { # SIZE IN THE UNIT OF THE LIMITS, then LIMIT PER-MYRIAD … : a sum over the slices
  local size=$1 from=0 sum=0 upper
  shift
  while (($# > 0)); do
    upper=$1
    ((size > upper)) || upper=$size
    ((upper <= from)) || sum=$((sum + (upper - from) * $2))
    from=$1
    shift 2
  done
  echo $((sum / 10000))
}
memory=$(share $(($(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 1024)) 4096 2500 8192 2000 16384 1000 131072 600 1000000000 200)Mi
cpu=$(share $(($(nproc) * 1000)) 1000 600 2000 100 4000 50 100000000 25)m
reserved="systemReserved: {cpu: \"$cpu\", memory: \"$memory\", ephemeral-storage: 1Gi}"
{{- else if eq $reservation.mode "Static" }}
reserved={{ printf "systemReserved: %s" (dict "cpu" ($reservation.static.cpu | default "0") "memory" ($reservation.static.memory | default "0") "ephemeral-storage" ($reservation.static.ephemeralStorage | default "0") | toJson) | squote }}
memory={{ $reservation.static.memory | default "0" | squote }}
{{- else }}
reserved=
memory=0
{{- end }}
{{- if $topology.enabled }}

# Memory that is given out by NUMA node must be all but what is reserved, to the byte.
mebibytes() {
  # What is no number would be computed, and so run.
  [[ "${1%[KMG]i}" =~ ^[0-9]+$ ]] || bb-exit 1 "static memory $1 must be in Ki, Mi, Gi or bytes where the topology manager is enabled"
  case "$1" in
    *Gi) echo $((${1%Gi} * 1024)) ;;
    *Mi) echo "${1%Mi}" ;;
    *Ki) echo $((${1%Ki} / 1024)) ;;
    *) echo $(($1 / 1048576)) ;;
  esac
}
memory=$(mebibytes "$memory")
{{- end }}
# The managers keep what they decided, and refuse to start under another policy.
forget() { rm -f {{ printf "%s/cpu_manager_state" $root | squote }} {{ printf "%s/memory_manager_state" $root | squote }}; }
bb-event-on topology-changed forget
echo {{ $topology | toJson | squote }} | bb-sync-file "$BASHIBLE_STATE_DIR/topology" - topology-changed
bb-sync-file /etc/kubernetes/pki/ca.crt - kubelet-changed <<<{{ .normal.kubernetesCA | trim | squote }}
if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then driver=systemd; else driver=cgroupfs; fi
bb-sync-file /etc/kubernetes/kubelet-config.yaml - kubelet-changed <<CONF
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}
authorization: {mode: Webhook}
cgroupDriver: $driver
clusterDNS: [{{ .normal.clusterDNSAddress | expanded }}]
clusterDomain: {{ .normal.clusterDomain | expanded }}
containerRuntimeEndpoint: unix://{{ ternary (dig "cri" "notManaged" "criSocketPath" "/run/containerd/containerd.sock" .nodeGroup) "/run/containerd/containerd.sock" (eq .cri "NotManaged") | expanded }}
containerLogMaxSize: {{ $kubelet.containerLogMaxSize | default "50Mi" | expanded }}
containerLogMaxFiles: {{ $kubelet.containerLogMaxFiles | default 4 | int }}
evictionHard: {memory.available: {{ if $topology.enabled }}100Mi{{ else }}1%{{ end }}, nodefs.available: 5%, nodefs.inodesFree: 5%, imagefs.available: 5%}
failCgroupV1: false
failSwapOn: false
{{- if $swap.swapBehavior }}
memorySwap: {swapBehavior: {{ $swap.swapBehavior | expanded }}}
{{- end }}
maxPods: {{ $kubelet.maxPods | default $maxPods | int }}
{{- with .nodeStatusUpdateFrequency }}
nodeStatusUpdateFrequency: {{ . | expanded }}s
{{- end }}
protectKernelDefaults: false
readOnlyPort: 0
rotateCertificates: true
seccompDefault: {{ $kubelet.seccompDefault | default false | expanded }}
shutdownGracePeriod: 2m
shutdownGracePeriodCriticalPods: 15s
staticPodPath: /etc/kubernetes/manifests
{{- if $topology.enabled }}
cpuManagerPolicy: static
memoryManagerPolicy: Static
reservedMemory: [{numaNode: 0, limits: {memory: $((memory + 100))Mi}}]
topologyManagerScope: {{ $topology.scope | default "container" | lower | expanded }}
topologyManagerPolicy: {{ dict "None" "none" "BestEffort" "best-effort" "Restricted" "restricted" "SingleNumaNode" "single-numa-node" | dig ($topology.policy | default "None") "none" }}
{{- end }}
$reserved
CONF
bb-sync-file /etc/systemd/system/kubelet.service - kubelet-changed <<UNIT
[Unit]
Description=kubelet
After=containerd.service network-online.target
Wants=network-online.target

[Service]
Environment=PATH=/opt/deckhouse/bin:/usr/sbin:/usr/bin:/sbin:/bin
ExecStart=/opt/deckhouse/bin/kubelet --config=/etc/kubernetes/kubelet-config.yaml \\
  --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf \\
  --cert-dir=/var/lib/kubelet/pki --root-dir={{ $root | expanded }} --hostname-override=$D8_NODE_HOSTNAME \\
{{- if and .cloudProviderType (ne .nodeGroup.nodeType "Static") }}
  --cloud-provider=external \\
{{- end }}
  --node-labels=node.deckhouse.io/group={{ .nodeGroup.name | expanded }},node.deckhouse.io/type={{ .nodeGroup.nodeType | expanded }} \\
  --register-with-taints=node.deckhouse.io/bashible-uninitialized=:NoSchedule
Restart=always
RestartSec=5
KillMode=process

[Install]
WantedBy=multi-user.target
UNIT
if [[ ! -e /etc/kubernetes/kubelet.conf ]]; then
  # The token of the machine makes it a node: kubelet gets a certificate of its own by it.
  umask 077
  cat >/etc/kubernetes/bootstrap-kubelet.conf <<CONF
apiVersion: v1
kind: Config
clusters: [{name: cluster, cluster: {server: "https://{{ first .normal.apiserverEndpoints | required "no endpoint of the API server is known" | expanded }}", certificate-authority: /etc/kubernetes/pki/ca.crt}}]
users: [{name: machine, user: {token: "$(<"{{ .normal.bootstrapTokenPath }}")"}}]
contexts: [{name: machine, context: {cluster: cluster, user: machine}}]
current-context: machine
CONF
fi
