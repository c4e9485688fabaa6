{{- $fencing := .nodeGroup.fencing | default dict }}
# The watchdog that resets this node when its fencing agent does not feed it any more.
if [[ {{ $fencing.mode | default "" | squote }} != Watchdog ]]; then
  if [[ -e /etc/systemd/system/nodegroup-watchdog.service ]]; then
    systemctl disable -q --now nodegroup-watchdog.service
    rm -f /etc/systemd/system/nodegroup-watchdog.service /opt/deckhouse/bin/nodegroup-watchdog.sh /etc/udev/rules.d/60-watchdog.rules
    systemctl daemon-reload
  fi
  exit 0
fi
timeout={{ dig "watchdog" "timeout" "60s" $fencing | squote }}
[[ "$timeout" =~ ^([1-9][0-9]{0,4})([smh])$ ]] || bb-exit 1 "the timeout $timeout of the watchdog is no time"
declare -A units=([s]=1 [m]=60 [h]=3600)
seconds=$((BASH_REMATCH[1] * units[${BASH_REMATCH[2]}]))

again() {
  systemctl daemon-reload
  systemctl enable -q nodegroup-watchdog.service
  # It ends an agent that holds the watchdog first; the agent comes back by itself.
  systemctl restart nodegroup-watchdog.service
}
bb-event-on watchdog-changed again
bb-sync-file /etc/udev/rules.d/60-watchdog.rules - <<'RULES'
KERNEL=="watchdog*", OWNER="64535", MODE="0660"
RULES
bb-sync-file /opt/deckhouse/bin/nodegroup-watchdog.sh - watchdog-changed <<'SCRIPT'
#!/bin/bash
# nodegroup-watchdog.sh start SECONDS | stop: loads and unloads the kernel's software watchdog.
set -euo pipefail
modules=${WATCHDOG_MODULES:-/proc/modules} device=${WATCHDOG_DEVICE:-/dev/watchdog}

loaded() { grep -q '^softdog ' "$modules"; }

release() {
  local held
  # An agent that is told to end disarms the watchdog; the module cannot go while it is held.
  for try in {1..20}; do
    held=$(find /proc/[0-9]*/fd -lname "$device" 2>/dev/null | cut -d/ -f3 | sort -u) || true
    [[ -n "$held" ]] || return 0
    kill -TERM $held 2>/dev/null || true
    sleep 0.5
  done
  echo "processes $held keep $device open" >&2
  return 1
}

unload() {
  loaded || return 0
  release
  rmmod softdog
}

case "${1:-}" in
  start)
    if ! loaded && [[ -e "$device" ]]; then
      echo "$device is there already, of the machine itself: softdog is not needed"
      exit 0
    fi
    # One that was loaded before has another timeout, or does not panic.
    unload
    modprobe softdog soft_margin="$2" soft_panic=1
    for try in {1..50}; do
      if [[ -e "$device" ]]; then
        chown 64535 "$device"
        chmod 0660 "$device"
        exit 0
      fi
      sleep 0.1
    done
    echo "softdog is loaded, but $device does not appear" >&2
    exit 1
    ;;
  stop) unload ;;
  *)
    echo "usage: $0 start SECONDS | stop" >&2
    exit 2
    ;;
esac
SCRIPT
chmod 0755 /opt/deckhouse/bin/nodegroup-watchdog.sh
bb-sync-file /etc/systemd/system/nodegroup-watchdog.service - watchdog-changed <<UNIT
[Unit]
Description=Watchdog of this node's group
Before=kubelet.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/opt/deckhouse/bin/nodegroup-watchdog.sh start $seconds
ExecStop=/opt/deckhouse/bin/nodegroup-watchdog.sh stop

[Install]
WantedBy=multi-user.target
UNIT
