
changed=no
restart-needed() { changed=yes; }
bb-event-on bb-package-installed restart-needed
bb-package-install 'kubelet:sha256:7777777777777777777777777777777777777777777777777777777777777777'
[[ "$changed" == no ]] || bb-flag-set kubelet-need-restart
need-restart() { bb-flag-set kubelet-need-restart; }
bb-event-on kubelet-changed need-restart
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
# The managers keep what they decided, and refuse to start under another policy.
forget() { rm -f '/var/lib/kubelet/cpu_manager_state' '/var/lib/kubelet/memory_manager_state'; }
bb-event-on topology-changed forget
echo '{}' | bb-sync-file "$BASHIBLE_STATE_DIR/topology" - topology-changed
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
containerLogMaxSize: 50Mi
containerLogMaxFiles: 4
evictionHard: {memory.available: 1%, nodefs.available: 5%, nodefs.inodesFree: 5%, imagefs.available: 5%}
failCgroupV1: false
failSwapOn: false
maxPods: 250
protectKernelDefaults: false
readOnlyPort: 0
rotateCertificates: true
seccompDefault: false
shutdownGracePeriod: 2m
shutdownGracePeriodCriticalPods: 15s
staticPodPath: /etc/kubernetes/manifests
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
  --cert-dir=/var/lib/kubelet/pki --root-dir=/var/lib/kubelet --hostname-override=$D8_NODE_HOSTNAME \\
  --node-labels=node.deckhouse.io/group=plain,node.deckhouse.io/type=CloudPermanent \\
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
