mkdir -p /opt/deckhouse/bin /opt/deckhouse/tmp /var/cache/registrypackages /var/log/d8/bashible /etc/kubernetes/manifests
chmod 0700 /var/lib/bashible /var/cache/registrypackages
if ! bb-is-bundle? debian-12 debian-13; then
  bb-exit 1 "these steps know Debian 12 and 13, not $(. /etc/os-release && echo "$PRETTY_NAME")"
fi
