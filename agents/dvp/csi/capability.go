package csi

import (
	"fmt"

	csipb "github.com/container-storage-interface/spec/lib/go/csi"
)

// unsupported says what is wrong with the wanted ways to use a volume, or nothing.
func unsupported(wanted ...*csipb.VolumeCapability) string {
	if len(wanted) == 0 {
		return "volume capabilities are needed"
	}
	for _, c := range wanted {
		switch mode := c.GetAccessMode().GetMode(); mode {
		case csipb.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, csipb.VolumeCapability_AccessMode_SINGLE_NODE_READER_ONLY:
		default:
			return fmt.Sprintf("access mode %s is not supported: a disk is used by one node at a time", mode)
		}
		if c.GetBlock() == nil && c.GetMount() == nil {
			return "an access type, block or mount, is needed"
		}
		switch fs := c.GetMount().GetFsType(); fs {
		case "", "ext2", "ext3", "ext4", "xfs":
		default:
			return fmt.Sprintf("file system %q is not supported", fs)
		}
	}
	return ""
}
