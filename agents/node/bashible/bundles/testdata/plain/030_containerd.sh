
changed=no
restart-needed() { changed=yes; }
bb-event-on bb-package-installed restart-needed
running=no
if systemctl is-active -q containerd.service; then running=yes; fi
containerd='containerd:sha256:3333333333333333333333333333333333333333333333333333333333333333'
if [[ "$running" == yes && "$(cat "$BASHIBLE_PACKAGES_DIR/${containerd%%:*}/digest" 2>/dev/null)" != "${containerd#*:}" ]]; then
  # Another containerd means that it restarts: containers go on, but images cannot be pulled and
  # pods not started meanwhile.
  bb-deckhouse-get-disruptive-update-approval
fi
bb-package-install "$containerd" 'runc:sha256:5555555555555555555555555555555555555555555555555555555555555555' 'kubernetes-cni:sha256:6666666666666666666666666666666666666666666666666666666666666666'
[[ "$changed" == no ]] || bb-event-delay containerd-changed

restart() {
  systemctl daemon-reload
  systemctl enable -q containerd.service
  systemctl restart containerd.service
}
bb-event-on containerd-changed restart
bb-sync-file /etc/systemd/system/containerd.service - containerd-changed <<'UNIT'
[Unit]
Description=containerd
After=network.target local-fs.target

[Service]
Environment=PATH=/opt/deckhouse/bin:/usr/sbin:/usr/bin:/sbin:/bin
ExecStart=/opt/deckhouse/bin/containerd --config /etc/containerd/config.toml
Type=notify
Delegate=yes
KillMode=process
Restart=always
RestartSec=5
LimitNPROC=infinity
LimitCORE=infinity
TasksMax=infinity

[Install]
WantedBy=multi-user.target
UNIT
# Where a machine is itself a container, scores cannot be lowered and cgroups may be the old ones.
if (((0x$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status) >> 24) & 1)); then restricted=false; else restricted=true; fi
if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then systemd=true; else systemd=false; fi
bb-sync-file /etc/containerd/config.toml - containerd-changed <<CONF
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.local/deckhouse@sha256:1111111111111111111111111111111111111111111111111111111111111111"
  restrict_oom_score_adj = $restricted
  max_concurrent_downloads = 3
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/opt/cni/bin"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "/etc/containerd/registry.d"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      BinaryName = "/opt/deckhouse/bin/runc"
      SystemdCgroup = $systemd
CONF
bb-sync-file '/etc/containerd/registry.d/registry.local/hosts.toml' - <<'CONF'
server = "https://registry.local"
[host."https://registry.local"]
  capabilities = ["pull", "resolve"]
  ca = "/etc/containerd/registry.d/ca.crt"
  [host."https://registry.local".header]
    Authorization = "Basic dTpw"
CONF
chmod 0600 '/etc/containerd/registry.d/registry.local/hosts.toml'
bb-sync-file /etc/containerd/registry.d/ca.crt - <<<'CA'
[[ "$running" == yes ]] || bb-event-delay containerd-changed
