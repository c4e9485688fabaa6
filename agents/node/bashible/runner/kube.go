package runner

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// Bounds of one request: connecting is quick or hopeless, and no answer is larger than a bundle.
const (
	connectBound = 10 * time.Second
	requestBound = 60 * time.Second
	answerMost   = 64 << 20 // bytes
)

// Kube speaks to the API server, as the node or, before there is one, with a bootstrap token.
type Kube struct {
	servers []string // the one that answered last is first
	client  *http.Client
	token   string
}

// StatusError is an answer of the API server that is no success.
type StatusError struct {
	Code int
	Text string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("the API server answered %d: %s", e.Code, e.Text)
}

func isStatus(err error, code int) bool {
	var status *StatusError
	return errors.As(err, &status) && status.Code == code
}

// errNoIdentity is told while neither kubelet nor a token is there.
var errNoIdentity = errors.New("no kubeconfig of kubelet and no bootstrap token: nothing to speak to the API server with")

// kubeconfig is the part of kubelet's that says where the API server is.
type kubeconfig struct {
	Clusters []struct {
		Cluster struct {
			Server string `json:"server"`
			CAFile string `json:"certificate-authority"`
			CAData string `json:"certificate-authority-data"`
		} `json:"cluster"`
	} `json:"clusters"`
}

// NewKube finds out as whom to speak.
func NewKube(s *Settings) (*Kube, error) {
	k := &Kube{}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	ca, err := k.identify(s, config)
	if err != nil {
		return nil, err
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(ca) {
		return nil, errors.New("the cluster's authority has no certificate")
	}
	for _, server := range s.APIServers {
		if url := "https://" + server; len(k.servers) == 0 || k.servers[0] != url {
			k.servers = append(k.servers, url)
		}
	}
	if len(k.servers) == 0 {
		return nil, errors.New("no API server is known: --api-servers is empty")
	}
	k.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: config, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 1,
		DialContext: (&net.Dialer{Timeout: connectBound}).DialContext, TLSHandshakeTimeout: connectBound,
	}}
	return k, nil
}

func (k *Kube) identify(s *Settings, config *tls.Config) (ca []byte, err error) {
	text, err := os.ReadFile(s.KubeletConf)
	if errors.Is(err, os.ErrNotExist) {
		if k.token = s.read(tokenFile); k.token == "" {
			return nil, errNoIdentity
		}
		ca, err = os.ReadFile(s.file(caFile))
		return ca, err
	}
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	var conf kubeconfig
	if err := yaml.Unmarshal(text, &conf); err != nil || len(conf.Clusters) == 0 {
		return nil, fmt.Errorf("read kubeconfig %s: no cluster in it: %w", s.KubeletConf, err)
	}
	cluster := conf.Clusters[0].Cluster
	k.servers = []string{strings.TrimSuffix(cluster.Server, "/")}
	pair, err := tls.LoadX509KeyPair(s.KubeletCert, s.KubeletCert)
	if err != nil {
		return nil, fmt.Errorf("load certificate of the node: %w", err)
	}
	config.Certificates = []tls.Certificate{pair}
	if cluster.CAData != "" {
		return base64.StdEncoding.DecodeString(cluster.CAData)
	}
	return os.ReadFile(cluster.CAFile)
}

// Do asks one API server after the other until one answers, and reads a JSON answer into into
// unless that is nil. An answer that is no success is a *StatusError.
func (k *Kube) Do(ctx context.Context, method, path, contentType string, body []byte, into any) error {
	err := k.once(ctx, k.servers[0], method, path, contentType, body, into)
	if err == nil || !unreachable(err) {
		return err
	}
	for i, server := range k.servers[1:] {
		if k.once(ctx, server, http.MethodGet, "/healthz", "", nil, nil) != nil {
			continue
		}
		k.servers[0], k.servers[i+1] = server, k.servers[0]
		return k.once(ctx, server, method, path, contentType, body, into)
	}
	return err
}

// unreachable says that another API server may do better.
func unreachable(err error) bool {
	var status *StatusError
	return !errors.As(err, &status) || status.Code == http.StatusBadGateway || status.Code == http.StatusServiceUnavailable
}

func (k *Kube) once(ctx context.Context, server, method, path, contentType string, body []byte, into any) error {
	ctx, cancel := context.WithTimeout(ctx, requestBound)
	defer cancel()
	answer, err := k.send(ctx, server, method, path, contentType, body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, answerMost))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	switch to := into.(type) {
	case nil:
	case *[]byte:
		*to = text
	default:
		if err := json.Unmarshal(text, into); err != nil {
			return fmt.Errorf("read answer to %s %s: %w", method, path, err)
		}
	}
	return nil
}

func (k *Kube) send(ctx context.Context, server, method, path, contentType string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, server+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("User-Agent", "bashible")
	request.Header.Set("Accept", "application/json")
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	if k.token != "" {
		request.Header.Set("Authorization", "Bearer "+k.token)
	}
	answer, err := k.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if answer.StatusCode/100 == 2 {
		return answer, nil
	}
	defer answer.Body.Close()
	const enough = 2000 // bytes: a message, not an object
	text, _ := io.ReadAll(io.LimitReader(answer.Body, enough))
	var said struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(text, &said) == nil && said.Message != "" {
		text = []byte(said.Message)
	}
	return nil, fmt.Errorf("%s %s: %w", method, path, &StatusError{answer.StatusCode, strings.TrimSpace(string(text))})
}

// Get reads an object.
func (k *Kube) Get(ctx context.Context, path string, into any) error {
	return k.Do(ctx, http.MethodGet, path, "", nil, into)
}
