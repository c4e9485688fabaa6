package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"commander/internal/fault"
)

// connection is how the API of a cluster that was not made here is reached.
type connection struct {
	server string
	ca     []byte
	// insecure says that the kubeconfig waives the check of the certificate.
	insecure   bool
	serverName string
	token      string
	cert, key  []byte
}

// kubeconfigFile is what of a kubeconfig is understood. What names programs or files is refused:
// it would run or be read on Commander's machines.
type kubeconfigFile struct {
	Kind           string `yaml:"kind"`
	CurrentContext string `yaml:"current-context"`
	Contexts       []struct {
		Name    string `yaml:"name"`
		Context struct {
			Cluster string `yaml:"cluster"`
			User    string `yaml:"user"`
		} `yaml:"context"`
	} `yaml:"contexts"`
	Clusters []struct {
		Name    string `yaml:"name"`
		Cluster struct {
			Server   string `yaml:"server"`
			CAData   string `yaml:"certificate-authority-data"`
			CAFile   string `yaml:"certificate-authority"`
			Insecure bool   `yaml:"insecure-skip-tls-verify"`
			Name     string `yaml:"tls-server-name"`
			Proxy    string `yaml:"proxy-url"`
		} `yaml:"cluster"`
	} `yaml:"clusters"`
	Users []struct {
		Name string `yaml:"name"`
		User struct {
			Token     string    `yaml:"token"`
			TokenFile string    `yaml:"tokenFile"`
			CertData  string    `yaml:"client-certificate-data"`
			CertFile  string    `yaml:"client-certificate"`
			KeyData   string    `yaml:"client-key-data"`
			KeyFile   string    `yaml:"client-key"`
			Username  string    `yaml:"username"`
			Exec      yaml.Node `yaml:"exec"`
			Provider  yaml.Node `yaml:"auth-provider"`
		} `yaml:"user"`
	} `yaml:"users"`
}

// FieldKubeconfig is the key under which problems with a kubeconfig are told.
const FieldKubeconfig = "kubeconfig"

func badKubeconfig(key string, args ...any) *fault.Error {
	return fault.Fields(map[string]fault.Message{FieldKubeconfig: {Key: key, Args: args}})
}

// readKubeconfig understands the current context of a kubeconfig, which holds data and tokens only.
func readKubeconfig(text string) (connection, error) {
	var c connection
	var file kubeconfigFile
	if strings.TrimSpace(text) == "" {
		return c, badKubeconfig("attach.kubeconfig.required")
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil || file.Kind != "Config" {
		return c, badKubeconfig("attach.kubeconfig.not_one")
	}
	cluster, user := "", ""
	for _, x := range file.Contexts {
		if x.Name == file.CurrentContext {
			cluster, user = x.Context.Cluster, x.Context.User
		}
	}
	for _, x := range file.Clusters {
		if x.Name != cluster {
			continue
		}
		if x.Cluster.CAFile != "" || x.Cluster.Proxy != "" {
			return c, badKubeconfig("attach.kubeconfig.files")
		}
		c.server, c.insecure, c.serverName = strings.TrimSuffix(x.Cluster.Server, "/"), x.Cluster.Insecure, x.Cluster.Name
		var err error
		if c.ca, err = base64.StdEncoding.DecodeString(x.Cluster.CAData); err != nil {
			return c, badKubeconfig("attach.kubeconfig.not_one")
		}
	}
	known := false
	for _, x := range file.Users {
		if x.Name != user {
			continue
		}
		u := x.User
		if u.TokenFile != "" || u.CertFile != "" || u.KeyFile != "" || !u.Exec.IsZero() || !u.Provider.IsZero() {
			return c, badKubeconfig("attach.kubeconfig.files")
		}
		var errs [2]error
		c.cert, errs[0] = base64.StdEncoding.DecodeString(u.CertData)
		c.key, errs[1] = base64.StdEncoding.DecodeString(u.KeyData)
		if errors.Join(errs[:]...) != nil {
			return c, badKubeconfig("attach.kubeconfig.not_one")
		}
		c.token, known = u.Token, u.Token != "" || len(c.cert) > 0
	}
	u, err := url.Parse(c.server)
	switch {
	case c.server == "" || !known:
		return c, badKubeconfig("attach.kubeconfig.context")
	case err != nil || u.Scheme != "https" || u.Host == "":
		return c, badKubeconfig("attach.kubeconfig.https", c.server)
	}
	return c, nil
}

// kubeconfig writes the connection anew: nothing else of what was sent is kept.
func (c connection) kubeconfig() []byte {
	cluster := map[string]any{"server": c.server}
	if len(c.ca) > 0 {
		cluster["certificate-authority-data"] = base64.StdEncoding.EncodeToString(c.ca)
	}
	if c.insecure {
		cluster["insecure-skip-tls-verify"] = true
	}
	if c.serverName != "" {
		cluster["tls-server-name"] = c.serverName
	}
	user := map[string]any{}
	if c.token != "" {
		user["token"] = c.token
	}
	if len(c.cert) > 0 {
		user["client-certificate-data"] = base64.StdEncoding.EncodeToString(c.cert)
		user["client-key-data"] = base64.StdEncoding.EncodeToString(c.key)
	}
	const name = "cluster"
	body, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []any{map[string]any{"name": name, "cluster": cluster}},
		"users":    []any{map[string]any{"name": name, "user": user}},
		"contexts": []any{map[string]any{"name": name, "context": map[string]any{"cluster": name, "user": name}}},
	})
	if err != nil {
		panic(fmt.Sprintf("write kubeconfig: %v", err)) // maps of strings always encode
	}
	return body
}

// connectLimit bounds the test of a connection, which a person waits for.
const connectLimit = 10 * time.Second

// reached is what a test of a connection found.
type reached struct{ version, owner string }

// test asks the API server who it is and whose the cluster is. Its errors are for the person who
// gave the kubeconfig.
func (c connection) test(ctx context.Context) (reached, error) {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: c.insecure, ServerName: c.serverName} //nolint:gosec // as the kubeconfig says
	if len(c.ca) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(c.ca) {
			return reached{}, badKubeconfig("attach.kubeconfig.not_one")
		}
	}
	if len(c.cert) > 0 {
		pair, err := tls.X509KeyPair(c.cert, c.key)
		if err != nil {
			return reached{}, badKubeconfig("attach.kubeconfig.not_one")
		}
		config.Certificates = []tls.Certificate{pair}
	}
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var found reached
	var version struct{ Major, Minor string }
	if err := c.ask(ctx, client, "/version", &version); err != nil {
		return found, err
	}
	found.version = version.Major + "." + strings.TrimRight(version.Minor, "+")
	var mark struct{ Data map[string]string }
	if err := c.ask(ctx, client, "/api/v1/namespaces/kube-system/configmaps/d8-commander-uuid", &mark); err != nil {
		return found, err
	}
	found.owner = mark.Data["commander-uuid"]
	return found, nil
}

// ask reads one object of the API; one that is not there leaves the answer empty.
func (c connection) ask(ctx context.Context, client *http.Client, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.server+path, nil)
	if err != nil {
		return badKubeconfig("attach.kubeconfig.https", c.server)
	}
	request.Header.Set("Accept", "application/json")
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := client.Do(request)
	if err != nil {
		var unknown *tls.CertificateVerificationError
		if errors.As(err, &unknown) {
			return badKubeconfig("attach.certificate", c.server, unknown.Err.Error())
		}
		return badKubeconfig("attach.unreachable", c.server, reason(err))
	}
	defer func() { _ = response.Body.Close() }()
	const most = 1 << 20
	body, err := io.ReadAll(io.LimitReader(response.Body, most))
	switch {
	case err != nil:
		return badKubeconfig("attach.unreachable", c.server, reason(err))
	case response.StatusCode == http.StatusNotFound:
		return nil
	case response.StatusCode == http.StatusUnauthorized, response.StatusCode == http.StatusForbidden:
		return badKubeconfig("attach.refused", c.server, response.StatusCode)
	case response.StatusCode != http.StatusOK || json.Unmarshal(body, into) != nil:
		return badKubeconfig("attach.no_kubernetes", c.server, response.StatusCode)
	}
	return nil
}

// reason is the innermost part of an error of the network, without addresses of this machine.
func reason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "timeout"
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
