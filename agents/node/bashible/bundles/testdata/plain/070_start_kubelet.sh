if bb-flag? reboot; then
  bb-log-info "kubelet starts with the machine"
  systemctl enable -q kubelet.service
  exit 0
fi
if bb-flag? kubelet-need-restart || ! systemctl is-active -q kubelet.service; then
  systemctl daemon-reload
  systemctl enable -q kubelet.service
  systemctl restart kubelet.service
  bb-flag-unset kubelet-need-restart
  # A balancer of the cloud that looks at many nodes must not lose them all at once.
  [[ "$FIRST_BASHIBLE_RUN" == yes ]] || sleep 60
fi
for try in {1..120}; do
  [[ ! -s /etc/kubernetes/kubelet.conf || ! -e /var/lib/kubelet/pki/kubelet-client-current.pem ]] || break
  sleep 1
done
[[ -s /etc/kubernetes/kubelet.conf ]] || bb-exit 1 "kubelet got no certificate within two minutes; 'journalctl -u kubelet' says why"
rm -f /etc/kubernetes/bootstrap-kubelet.conf
