package csi

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubernetes-csi/csi-test/v5/pkg/sanity"
	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"commander/agents/dvp/emulator/emulatortest"
)

// notOurs says why cases of the suite are skipped, by what the suite says of them. Everything is
// optional in the specification, and the driver does not advertise it.
var notOurs = map[string]string{
	"ListVolumes":                         "kube-controller-manager keeps its own list of what is attached",
	"GetCapacity":                         "DVP does not tell what a storage class has left",
	"Snapshot":                            "DVP snapshots are no part of this provider: there is no snapshotter beside it",
	"Volume Cloning":                      "a VirtualDisk cannot be made from another one",
	"GroupControllerService":              "groups exist for snapshots",
	"Modify":                              "a disk has nothing to modify but its size",
	"Health":                              "DVP tells the state of disks in its own objects",
	"ControllerPublishVolume.readonly":    "DVP has no attachments to be read only; the node mounts so",
	"single node multi writer capability": "the older SINGLE_NODE_WRITER, which allows the same, is offered",
}

// Every case runs that the advertised capabilities call for; a skipped one needs a reason.
func TestSanity(t *testing.T) {
	d := newDriver(t)
	config := sanity.NewTestConfig()
	config.Address = d.serve()
	config.TargetPath, config.StagingPath = filepath.Join(d.dir, "target"), filepath.Join(d.dir, "staging")
	config.TestVolumeSize, config.TestVolumeExpandSize = 1<<30, 2<<30
	config.TestVolumeParameters = map[string]string{parameterClass: emulatortest.Immediate}
	config.IdempotentCount, config.TestNodeVolumeAttachLimit = 3, true
	ran, used := 0, map[string]bool{}
	ginkgo.ReportAfterSuite("reasons of skipped cases", func(report ginkgo.Report) {
		for _, spec := range report.SpecReports {
			switch {
			case spec.State == types.SpecStatePassed && spec.LeafNodeType == types.NodeTypeIt:
				ran++
			case spec.State == types.SpecStateSkipped:
				reason := because(spec.FailureMessage())
				if used[reason] = true; reason == "" {
					t.Errorf("%s was skipped: %s", spec.FullText(), spec.FailureMessage())
				}
			}
		}
	})
	sanity.Test(t, config)
	if ran < 50 {
		t.Errorf("got %d cases that passed, want at least 50", ran)
	}
	for words := range notOurs {
		if !used[words] {
			t.Errorf("nothing was skipped for: %s", words)
		}
	}
}

// because finds the reason for which a case is skipped.
func because(message string) string {
	for words := range notOurs {
		if strings.Contains(strings.ToLower(message), strings.ToLower(words)) {
			return words
		}
	}
	return ""
}
