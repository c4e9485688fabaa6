
changed=no
restart-needed() { changed=yes; }
bb-event-on bb-package-installed restart-needed
bb-package-install 'kubelet:sha256:7777777777777777777777777777777777777777777777777777777777777777'
[[ "$changed" == no ]] || bb-flag-set kubelet-need-restart
need-restart() { bb-flag-set kubelet-need-restart; }
bb-event-on kubelet-changed need-restart
reserved='systemReserved: {"cpu":"500m","ephemeral-storage":"0","memory":"1Gi"}'
memory='1Gi'

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
# The managers keep what they decided, and refuse to start under another policy.
forget() { rm -f '/data/kubelet/cpu_manager_state' '/data/kubelet/memory_manager_state'; }
bb-event-on topology-changed forget
echo '{"enabled":true,"policy":"SingleNumaNode","scope":"Pod"}' | bb-sync-file "$BASHIBLE_STATE_DIR/topology" - topology-changed
bb-sync-file /etc/kubernetes/pki/ca.crt - kubelet-changed <<<'-----BEGIN CERTIFICATE-----
AAAA
-----END CERTIFICATE-----'
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
clusterDNS: [10.222.0.10]
clusterDomain: cluster.local
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
containerLogMaxSize: 10Mi
containerLogMaxFiles: 2
evictionHard: {memory.available: 100Mi, nodefs.available: 5%, nodefs.inodesFree: 5%, imagefs.available: 5%}
failCgroupV1: false
failSwapOn: false
memorySwap: {swapBehavior: LimitedSwap}
maxPods: 33
protectKernelDefaults: false
readOnlyPort: 0
rotateCertificates: true
seccompDefault: true
shutdownGracePeriod: 2m
shutdownGracePeriodCriticalPods: 15s
staticPodPath: /etc/kubernetes/manifests
cpuManagerPolicy: static
memoryManagerPolicy: Static
reservedMemory: [{numaNode: 0, limits: {memory: $((memory + 100))Mi}}]
topologyManagerScope: pod
topologyManagerPolicy: single-numa-node
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
  --cert-dir=/var/lib/kubelet/pki --root-dir=/data/kubelet --hostname-override=$D8_NODE_HOSTNAME \\
  --node-labels=node.deckhouse.io/group=full,node.deckhouse.io/type=CloudEphemeral \\
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
clusters: [{name: cluster, cluster: {server: "https://10.0.0.1:6443", certificate-authority: /etc/kubernetes/pki/ca.crt}}]
users: [{name: machine, user: {token: "$(<"/var/lib/bashible/bootstrap-token")"}}]
contexts: [{name: machine, context: {cluster: cluster, user: machine}}]
current-context: machine
CONF
fi
