package nodegroups

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The Secret with a group's script for new machines, as the node manager makes it.
const (
	scriptPrefix = "manual-bootstrap-for-"
	scriptKey    = "bootstrap.sh"
	scriptPath   = "/var/lib/bootstrap.sh"
)

func bootstrapName(group string) string { return "capi-bootstrap-" + group }

// bootstrapOf is what Cluster API hands to the group's machines: the group's script as a document of
// cloud-init, with the key that lets people in.
func bootstrapOf(group string, script []byte, sshKey string) (*corev1.Secret, error) {
	document := map[string]any{
		"write_files": []any{map[string]any{
			"path": scriptPath, "permissions": "0700", "encoding": "b64", "content": base64.StdEncoding.EncodeToString(script),
		}},
		"runcmd": []any{[]string{"bash", scriptPath}},
	}
	if sshKey != "" {
		document["ssh_authorized_keys"] = []string{sshKey}
	}
	text, err := json.Marshal(document) // which is YAML as well
	if err != nil {
		return nil, fmt.Errorf("write cloud-init: %w", err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: bootstrapName(group), Labels: map[string]string{labelGroup: group}},
		Type:       "cluster.x-k8s.io/secret",
		Data:       map[string][]byte{"format": []byte("cloud-config"), "value": append([]byte("#cloud-config\n"), text...)},
	}, nil
}
