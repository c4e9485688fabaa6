bb-sync-file /etc/modules-load.d/kubernetes.conf - <<'CONF'
overlay
br_netfilter
CONF
for module in overlay br_netfilter; do
  # A kernel may have it built in, or be another's, as in a container.
  modprobe -q "$module" || bb-log-warning "kernel module $module cannot be loaded"
done
# kubelet sets kernel.panic to 10 by itself, so 10 it is for every group.
apply() { sysctl -q -e --system >/dev/null || bb-log-warning "some kernel settings cannot be changed"; }
bb-event-on sysctl-changed apply
bb-sync-file /etc/sysctl.d/95-kubernetes.conf - sysctl-changed <<'CONF'
net.ipv4.ip_forward=1
net.bridge.bridge-nf-call-iptables=1
net.bridge.bridge-nf-call-ip6tables=1
net.ipv4.conf.all.rp_filter=0
net.ipv4.neigh.default.gc_thresh1=16384
net.ipv4.neigh.default.gc_thresh2=28672
net.ipv4.neigh.default.gc_thresh3=32768
fs.inotify.max_user_instances=8192
fs.inotify.max_user_watches=524288
vm.overcommit_memory=1
kernel.panic_on_oops=1
kernel.panic=10
CONF
