restart() { systemctl try-restart systemd-journald; }
bb-event-on journal-changed restart
bb-sync-file /etc/systemd/journald.conf.d/bashible.conf - journal-changed <<'CONF'
[Journal]
SystemMaxUse=1G
SystemMaxFileSize=128M
RateLimitIntervalSec=30s
RateLimitBurst=10000
CONF
bb-sync-file /etc/logrotate.d/bashible - <<'CONF'
/var/log/d8/bashible/*.log {
  weekly
  rotate 4
  compress
  missingok
  copytruncate
}
CONF
