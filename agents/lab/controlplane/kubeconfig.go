package controlplane

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// kubeconfig makes the way into the cluster for a holder of a certificate in the directory of
// certificates. Everything is inside it, so that it can be handed on.
func (c *Cluster) kubeconfig(holder string) ([]byte, error) {
	cert, err := os.ReadFile(c.pki(holder + ".crt"))
	if err != nil {
		return nil, fmt.Errorf("read certificate of %s: %w", holder, err)
	}
	key, err := os.ReadFile(c.pki(holder + ".key"))
	if err != nil {
		return nil, fmt.Errorf("read key of %s: %w", holder, err)
	}
	return c.kubeconfigFor(holder, &api.AuthInfo{ClientCertificateData: cert, ClientKeyData: key})
}

// TokenKubeconfig makes the way into the cluster for a holder of a service account's token.
func (c *Cluster) TokenKubeconfig(holder, token string) ([]byte, error) {
	return c.kubeconfigFor(holder, &api.AuthInfo{Token: token})
}

// AdminKubeconfig makes the way into the cluster for whoever may do everything there.
func (c *Cluster) AdminKubeconfig() ([]byte, error) { return c.kubeconfig("admin") }

func (c *Cluster) kubeconfigFor(holder string, user *api.AuthInfo) ([]byte, error) {
	ca, err := os.ReadFile(c.pki("ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read certificate of the authority: %w", err)
	}
	name := c.Settings().Name
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: c.address(), CertificateAuthorityData: ca}
	config.AuthInfos[holder] = user
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: holder}
	config.CurrentContext = name
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("write kubeconfig of %s: %w", holder, err)
	}
	return content, nil
}
