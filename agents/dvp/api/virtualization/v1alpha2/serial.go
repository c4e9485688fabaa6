package v1alpha2

import (
	"crypto/md5" //nolint:gosec // DVP numbers its disks so; nothing is kept secret by it
	"encoding/hex"

	"k8s.io/apimachinery/pkg/types"
)

// DiskSerial is the serial number that the machine sees on the disk of a VirtualDisk with this uid.
func DiskSerial(uid types.UID) string {
	sum := md5.Sum([]byte(uid)) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}
