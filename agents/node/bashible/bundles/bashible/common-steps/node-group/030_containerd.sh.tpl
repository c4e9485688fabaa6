{{- if ne .cri "NotManaged" }}
{{- $packages := .images.registrypackages }}
{{- $settings := dict }}
{{- with .nodeGroup.cri.containerd }}{{ $settings = . }}{{ end }}
{{- with .nodeGroup.cri.containerdV2 }}{{ $settings = . }}{{ end }}
{{- $second := eq .cri "ContainerdV2" }}
changed=no
restart-needed() { changed=yes; }
bb-event-on bb-package-installed restart-needed
running=no
if systemctl is-active -q containerd.service; then running=yes; fi
containerd={{ printf "%s:%s" (ternary "containerd2" "containerd" $second) (required "the digest of containerd is missing" (ternary $packages.containerd2 $packages.containerd $second)) | squote }}
if [[ "$running" == yes && "$(cat "$BASHIBLE_PACKAGES_DIR/${containerd%%:*}/digest" 2>/dev/null)" != "${containerd#*:}" ]]; then
  # Another containerd means that it restarts: containers go on, but images cannot be pulled and
  # pods not started meanwhile.
  bb-deckhouse-get-disruptive-update-approval
fi
bb-package-install "$containerd" {{ printf "runc:%s" (required "the digest of runc is missing" $packages.runc) | squote }} {{ printf "kubernetes-cni:%s" (required "the digest of the CNI plugins is missing" $packages.kubernetesCni) | squote }}
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
{{- $pause := printf "%s%s@%s" .registry.address .registry.path (required "the digest of pause is missing" .images.common.pause) }}
{{- if $second }}
version = 3
[plugins."io.containerd.cri.v1.images"]
  max_concurrent_downloads = {{ $settings.maxConcurrentDownloads | default 3 | int }}
  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = {{ $pause | quote | expanded }}
  [plugins."io.containerd.cri.v1.images".registry]
    config_path = "/etc/containerd/registry.d"
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = $restricted
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["/opt/cni/bin"]
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
      BinaryName = "/opt/deckhouse/bin/runc"
      SystemdCgroup = $systemd
{{- else }}
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = {{ $pause | quote | expanded }}
  restrict_oom_score_adj = $restricted
  max_concurrent_downloads = {{ $settings.maxConcurrentDownloads | default 3 | int }}
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
{{- end }}
CONF
{{- with .registry.address }}
{{- $file := printf "/etc/containerd/registry.d/%s/hosts.toml" . | squote }}
{{- $server := printf "%s://%s" ($.registry.scheme | default "https") . | line }}
bb-sync-file {{ $file }} - <<'CONF'
server = {{ $server | quote }}
[host.{{ $server | quote }}]
  capabilities = ["pull", "resolve"]
{{- with $.registry.ca }}
  ca = "/etc/containerd/registry.d/ca.crt"
{{- end }}
{{- with $.registry.auth }}
  [host.{{ $server | quote }}.header]
    Authorization = {{ printf "Basic %s" . | line | quote }}
{{- end }}
CONF
chmod 0600 {{ $file }}
{{- with $.registry.ca }}
bb-sync-file /etc/containerd/registry.d/ca.crt - <<<{{ . | trim | squote }}
{{- end }}
{{- end }}
[[ "$running" == yes ]] || bb-event-delay containerd-changed
{{- end }}
