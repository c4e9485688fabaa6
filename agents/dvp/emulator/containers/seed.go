package containers

import (
	"archive/tar"
	"bytes"
	"fmt"

	"sigs.k8s.io/yaml"

	"commander/agents/dvp/emulator"
)

// seedDir is where cloud-init looks for what its source "NoCloud" gives it.
const seedDir = "var/lib/cloud/seed/nocloud/"

// seedOf is an archive of what cloud-init is to know and do. The machine's id makes it do that once.
func seedOf(g emulator.Guest) (*bytes.Buffer, error) {
	about, err := yaml.Marshal(map[string]string{"instance-id": string(g.ID), "local-hostname": g.Machine.Name})
	if err != nil {
		return nil, fmt.Errorf("write seed of cloud-init: %w", err)
	}
	data := g.UserData
	if len(data) == 0 {
		data = []byte("#cloud-config\n{}\n")
	}
	archive := new(bytes.Buffer)
	w := tar.NewWriter(archive)
	for name, content := range map[string][]byte{"meta-data": about, "user-data": data} {
		if err := w.WriteHeader(&tar.Header{Name: seedDir + name, Mode: 0o600, Size: int64(len(content))}); err != nil {
			return nil, fmt.Errorf("write seed of cloud-init: %w", err)
		}
		if _, err := w.Write(content); err != nil {
			return nil, fmt.Errorf("write seed of cloud-init: %w", err)
		}
	}
	return archive, w.Close()
}
