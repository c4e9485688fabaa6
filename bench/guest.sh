#!/bin/bash
# What no container shows, in a virtual machine without any virtualization of the host's: the kernel's
# own software watchdog, which the fencing agent's device feeds, disarms and lets expire, and control
# groups of version 2 with all controllers, in which psi-monitor finds and ends a pod. Needs Debian,
# root, a Docker engine, the image that `.ci/machine/build` makes, and
#   apt-get install --no-install-recommends qemu-system-x86 cpio kmod
# Takes about three minutes and 2.5 GiB of memory; says PASS or what went wrong.
set -euo pipefail
cd "$(dirname "$0")/.."
image=${COMMANDER_TEST_MACHINE_IMAGE:-commander-test-machine}
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root
mkdir "$root" "$work/kernel"

echo "the tests as programs"
for package in fencing earlyoom; do
	CGO_ENABLED=0 go test -c -o "$work/$package.test" "./agents/node/$package"
done
echo "the machine and a kernel"
container=$(docker create "$image")
docker export "$container" | tar -C "$root" -x
docker rm "$container" >/dev/null
package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/^  Depends: //p')
(cd "$work" && apt-get download -q "$package" >/dev/null 2>&1 && dpkg -x "$package"*.deb kernel)
cp -a "$work/kernel/lib/modules" "$root/usr/lib/"
rm -rf "$root"/usr/lib/modules/*/kernel/{drivers/{gpu,infiniband,scsi,net},net,sound}
depmod -b "$root" "$(basename "$root"/usr/lib/modules/*)"
# Pages of files that are only in memory are never missed, so there is a disk.
truncate -s 1G "$work/disk"
mkfs.ext4 -q -F "$work/disk"
cp "$work"/*.test "$root/"
cat >"$root/guest.sh" <<'GUEST'
#!/bin/sh
modprobe softdog soft_margin=60 soft_panic=1
modprobe -a virtio_pci virtio_blk ext4 && mount /dev/vda /mnt && export TMPDIR=/mnt || echo "no disk"
echo "controllers: $(cat /sys/fs/cgroup/cgroup.controllers)"
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
cd /tmp
COMMANDER_TEST_SOFTDOG=feed /fencing.test -test.v -test.run TestRealSoftdog && /earlyoom.test -test.v -test.run 'RealPod|RealLimit|RealKernel' && echo GUEST-TESTS-PASSED
# Ends in a panic, or this line is seen.
COMMANDER_TEST_SOFTDOG=starve /fencing.test -test.v -test.run TestRealSoftdog
echo THE-WATCHDOG-DID-NOT-BITE
GUEST
cat >"$root/etc/systemd/system/guest.service" <<'UNIT'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
StandardOutput=journal+console
StandardError=journal+console
ExecStart=/bin/sh /guest.sh
ExecStopPost=/usr/bin/systemctl poweroff
[Install]
WantedBy=multi-user.target
UNIT
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -sf ../guest.service "$root/etc/systemd/system/multi-user.target.wants/guest.service"
(cd "$root" && find . -print0 | cpio --null -o -H newc --quiet | gzip -1 >"$work/initrd.gz")
echo "the guest"
timeout 600 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 2500 -kernel "$work"/kernel/boot/vmlinuz-* -initrd "$work/initrd.gz" \
	-append "console=ttyS0 rdinit=/sbin/init systemd.unified_cgroup_hierarchy=1 psi=1 panic=-1" -nographic -no-reboot -nic none -drive file="$work/disk",format=raw,if=virtio | tee "$work/console" |
	grep --line-buffered -aE -- '--- (PASS|FAIL|SKIP)|_test.go|controllers:|Kernel panic|GUEST|BITE|no disk' || true
grep -qa GUEST-TESTS-PASSED "$work/console" || { echo "FAIL: tests in the guest"; tail -n 40 "$work/console"; exit 1; }
grep -qa 'Kernel panic.*Software Watchdog Timer expired' "$work/console" || { echo "FAIL: no panic by the watchdog"; tail -n 40 "$work/console"; exit 1; }
echo PASS
