package emulatortest

import (
	"os"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig is an access by a token as the text that programs are given.
func Kubeconfig(t testing.TB, access *rest.Config) string {
	t.Helper()
	authority := access.CAData
	if access.CAFile != "" {
		var err error
		if authority, err = os.ReadFile(access.CAFile); err != nil {
			t.Fatal(err)
		}
	}
	text, err := clientcmd.Write(clientcmdapi.Config{
		CurrentContext: "c", Contexts: map[string]*clientcmdapi.Context{"c": {Cluster: "c", AuthInfo: "u"}},
		Clusters:  map[string]*clientcmdapi.Cluster{"c": {Server: access.Host, CertificateAuthorityData: authority}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": {Token: access.BearerToken}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
