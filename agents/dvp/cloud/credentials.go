package cloud

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Credentials are what every program of the provider is given. All are needed.
type Credentials struct {
	Kubeconfig  string `flag:"dvp-kubeconfig" env:"DVP_KUBERNETES_CONFIG_BASE64" required:"true" secret:"true" help:"kubeconfig for DVP, as text or in Base64"`
	Namespace   string `flag:"dvp-namespace" env:"DVP_NAMESPACE" required:"true" help:"the project's namespace in DVP"`
	ClusterUUID string `flag:"cluster-uuid" env:"CLUSTER_UUID" required:"true" help:"marks what belongs to this cluster"`
}

// Open reaches DVP with these credentials.
func (c Credentials) Open() (*Cloud, error) {
	config, err := ParseKubeconfig(c.Kubeconfig)
	if err != nil {
		return nil, err
	}
	return New(config, c.Namespace, c.ClusterUUID)
}

// ParseKubeconfig reads a kubeconfig given as text or in Base64: the variable's name promises
// Base64, yet what fills it decodes at times. Files that a kubeconfig names are refused: the value
// comes from a Secret and must not make the program read its own file system.
func ParseKubeconfig(value string) (*rest.Config, error) {
	text := []byte(value)
	if decoded, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(value), "")); err == nil {
		text = decoded
	}
	parsed, err := clientcmd.Load(text)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	for _, user := range parsed.AuthInfos {
		if user.ClientCertificate+user.ClientKey+user.TokenFile != "" || user.Exec != nil {
			return nil, errors.New("read kubeconfig: it names files or programs, which must be inside it instead")
		}
	}
	for _, cluster := range parsed.Clusters {
		if cluster.CertificateAuthority != "" {
			return nil, errors.New("read kubeconfig: it names files or programs, which must be inside it instead")
		}
	}
	config, err := clientcmd.NewDefaultClientConfig(*parsed, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS = -1 // DVP knows how much it can take; the library's five requests a second are too few for a few machines
	return config, nil
}
