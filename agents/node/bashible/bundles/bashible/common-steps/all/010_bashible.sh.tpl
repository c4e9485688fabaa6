# The program itself: it takes effect with the next run.
bb-package-install {{ printf "bashible:%s" (required "the digest of the package bashible is missing" .images.registrypackages.bashible) | squote }}

reload() { systemctl daemon-reload; }
bb-event-on units-changed reload
bb-sync-file /etc/systemd/system/bashible.service - units-changed <<'UNIT'
[Unit]
Description=Configuration of this node
After=network-online.target
Wants=network-online.target

[Service]
Type=oneshot
EnvironmentFile=-/etc/environment
ExecStart=/var/lib/bashible/bashible.sh --max-retries 10
# Waiting for an approval is no failure.
SuccessExitStatus=75
RuntimeMaxSec=3h
KillMode=mixed
UNIT
bb-sync-file /etc/systemd/system/bashible.timer - units-changed <<'UNIT'
[Unit]
Description=Configuration of this node, every minute

[Timer]
OnBootSec=1min
OnUnitActiveSec=1min
OnUnitInactiveSec=1min

[Install]
WantedBy=multi-user.target
UNIT
bb-sync-file /etc/systemd/system/bashible-watch.service - units-changed <<'UNIT'
[Unit]
Description=Configuration of this node, as soon as it changes
After=network-online.target
Wants=network-online.target

[Service]
EnvironmentFile=-/etc/environment
Environment=BASHIBLE_NODE_GROUP={{ .nodeGroup.name | line }} BASHIBLE_API_SERVERS={{ join "," .normal.apiserverEndpoints | line }}
ExecStart=/opt/deckhouse/bin/bashible watch
Restart=always
RestartSec=10s
MemoryMax=64M

[Install]
WantedBy=multi-user.target
UNIT
