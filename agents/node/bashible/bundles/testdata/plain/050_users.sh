# A user that cannot be made is told in the status of its NodeUser and stops nothing else.
known="$BASHIBLE_STATE_DIR/users"
touch "$known"

tell() { # NAME ERROR; an empty error takes an earlier one back
  local value=null
  [[ -z "$2" ]] || value="\"$(printf '%s' "$2" | tr '\n"\\' '   ' | head -c 500)\""
  bb-curl-kube "/apis/deckhouse.io/v1/nodeusers/$1/status" -X PATCH -H 'Content-Type: application/merge-patch+json' \
    -d "{\"status\":{\"errors\":{\"$D8_NODE_HOSTNAME\":$value}}}" >/dev/null 2>&1 || true
}

make-user() { # NAME UID HASH GROUPS, keys on standard input
  local name=$1 uid=$2 hash=$3 groups=$4 home="/home/deckhouse/$1" there
  there=$(getent passwd "$name" | cut -d: -f3) || true
  if [[ -z "$there" ]]; then
    mkdir -p /home/deckhouse
    useradd -u "$uid" -U -d "$home" -m -s /bin/bash -c 'node user' "$name" || return
    echo "$name" >>"$known"
  elif ! grep -qxF -- "$name" "$known"; then
    echo "a user $name is on the machine already, and not as a NodeUser"
    return 1
  elif [[ "$there" != "$uid" ]]; then
    echo "the user $name has the uid $there and not $uid"
    return 1
  fi
  usermod -G "$groups" -p "$hash" "$name" || return
  install -d -m 0700 -o "$name" -g "$name" "$home/.ssh" || return
  cat >"$home/.ssh/authorized_keys.new" || return
  chown "$name:$name" "$home/.ssh/authorized_keys.new" || return
  chmod 0600 "$home/.ssh/authorized_keys.new" || return
  mv "$home/.ssh/authorized_keys.new" "$home/.ssh/authorized_keys"
}

wanted=()
wanted+=('eve')
if said=$(make-user 'eve' 1001 '$6$x' 'adm,sudo' 2>&1 <<<'ssh-ed25519 A
ssh-ed25519 B'); then tell 'eve' ''; else
  bb-log-error "user "'eve'": $said"
  tell 'eve' "$said"
fi

while read -r name; do
  for w in "${wanted[@]}"; do [[ "$w" != "$name" ]] || continue 2; done
  userdel -r "$name" >/dev/null 2>&1 || bb-log-warning "user $name cannot be removed yet"
  getent passwd "$name" >/dev/null || sed -i "/^$name\$/d" "$known"
done < <(cat "$known")
