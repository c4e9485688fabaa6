package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"commander/internal/config"
)

const prefix = "COMMANDER_"

// database is what every command that opens the database needs.
type database struct {
	DatabaseURL string `flag:"database-url" required:"true" secret:"true" help:"PostgreSQL to keep everything in"`
	KeysDir     string `flag:"keys-dir" help:"folder with the encryption keys, <id>.key each; needed by all but migrate and the waits"`
	LogLevel    string `flag:"log-level" default:"info" oneof:"debug info warn error" help:"lowest level that is logged"`
}

// The roles.
const (
	roleWeb            = "web"
	roleLive           = "live"
	roleWorker         = "worker"
	roleClusterManager = "cluster-manager"
	roleClusterChecker = "cluster-checker"
	roleTaskChecker    = "task-checker"
)

var allRoles = []string{roleWeb, roleLive, roleWorker, roleClusterManager, roleClusterChecker, roleTaskChecker}

// options are what the roles need.
type options struct {
	database
	Roles []string `flag:"roles" default:"all" help:"roles of this process, or all"`

	Listen          string   `flag:"listen" default:"127.0.0.1:8443" help:"address of the web and live roles"`
	TelemetryListen string   `flag:"telemetry-listen" help:"address of /healthz, /readyz and /metrics; empty for none"`
	PublicURL       string   `flag:"public-url" help:"where people and agents reach Commander, https://…"`
	TLSCert         string   `flag:"tls-cert" help:"certificate file; read again when it changes"`
	TLSKey          string   `flag:"tls-key" help:"key file of the certificate"`
	CAFile          string   `flag:"ca-file" help:"PEM of the authority behind the certificate, for agents and kubeconfigs; empty when they know it"`
	BehindProxy     bool     `flag:"behind-proxy" help:"serve plain HTTP to a proxy that ends TLS"`
	TrustedProxies  []string `flag:"trusted-proxies" help:"networks (CIDR) whose X-Forwarded-For is believed"`
	PageSize        int      `flag:"page-size" default:"50" help:"rows that a list shows at once"`

	AssetsDir string `flag:"assets-dir" help:"folder to read the browser's files from at each request, while working on them (web/assets/dist)"`

	OIDCIssuer           string `flag:"oidc-issuer" help:"issuer of sign-ins"`
	OIDCClientID         string `flag:"oidc-client-id" help:"client at the issuer"`
	OIDCClientSecretFile string `flag:"oidc-client-secret-file" help:"file with the client's secret"`
	OIDCCAFile           string `flag:"oidc-ca-file" help:"PEM of the authority behind the issuer; empty for the system's"`
	FirstAdmin           string `flag:"first-admin" help:"verified mail address or subject of the first administrator"`

	RunDir          string `flag:"run-dir" help:"private folder for the sockets of child processes"`
	DhctlBinary     string `flag:"dhctl-binary" help:"dhctl, started as a server by the cluster manager"`
	ConnectorBinary string `flag:"connector-binary" help:"ampg-connector, started a cluster by the cluster manager"`
	AgentImage      string `flag:"agent-image" help:"image of commander-agent, for dhctl: it then runs in the clusters that are attached; empty means that the lab runs it beside them"`
	LabSocket       string `flag:"lab-socket" help:"socket of the lab daemon, for dhctl"`
	PlatformVersion string `flag:"platform-version" default:"lab" help:"version of the platform whose dhctl is used"`
	ClusterWorkers  int    `flag:"cluster-workers" default:"8" help:"clusters that are worked on at once"`

	SMTPServer       string   `flag:"smtp-server" help:"host:port that takes mail, for notifications; empty sends none"`
	SMTPFrom         string   `flag:"smtp-from" help:"address that mail comes from"`
	SMTPUser         string   `flag:"smtp-user" help:"user at the mail server; empty for none"`
	SMTPPasswordFile string   `flag:"smtp-password-file" help:"file with the password of that user"`
	SMTPCAFile       string   `flag:"smtp-ca-file" help:"PEM of the authority behind the mail server; empty for the system's"`
	SMTPPlain        bool     `flag:"smtp-plain" help:"let mail go unencrypted to a server that offers no encryption"`
	WebhookNetworks  []string `flag:"webhook-networks" help:"networks inside, such as 10.0.0.0/8, that webhooks may go to; those outside they always may"`

	QuietLimit    time.Duration `flag:"task-quiet-limit" default:"2m" help:"how long a running task may be silent before it is lost"`
	CheckLooks    time.Duration `flag:"check-clusters-every" default:"15s" help:"pause between two looks for clusters whose check is due"`
	DatabaseConns int           `flag:"database-connections" default:"30" help:"most connections of this process"`
}

// Validate tells what the chosen roles lack.
func (o *options) Validate() error {
	if slices.Contains(o.Roles, "all") {
		o.Roles = allRoles
	}
	var problems []error
	need := func(role string, values map[string]string) {
		if !o.has(role) {
			return
		}
		for name, value := range values {
			if value == "" {
				problems = append(problems, fmt.Errorf("the role %s needs --%s", role, name))
			}
		}
	}
	for _, role := range o.Roles {
		if !slices.Contains(allRoles, role) {
			problems = append(problems, fmt.Errorf("there is no role %q; the roles are %s", role, strings.Join(allRoles, ", ")))
		}
	}
	need(roleWeb, map[string]string{
		"public-url": o.PublicURL, "oidc-issuer": o.OIDCIssuer, "oidc-client-id": o.OIDCClientID, "run-dir": o.RunDir,
	})
	need(roleLive, map[string]string{"public-url": o.PublicURL, "oidc-issuer": o.OIDCIssuer, "oidc-client-id": o.OIDCClientID})
	need(roleClusterManager, map[string]string{
		"public-url": o.PublicURL, "run-dir": o.RunDir, "dhctl-binary": o.DhctlBinary, "connector-binary": o.ConnectorBinary,
	})
	if o.KeysDir == "" {
		problems = append(problems, errors.New("all roles need --keys-dir"))
	}
	if (o.has(roleWeb) || o.has(roleLive)) && (o.TLSCert == "" || o.TLSKey == "") && !o.BehindProxy {
		problems = append(problems, errors.New("--tls-cert and --tls-key are needed, or --behind-proxy when a proxy ends TLS"))
	}
	if u, err := url.Parse(o.PublicURL); o.PublicURL != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.Path != "") {
		problems = append(problems, fmt.Errorf("--public-url must be https:// and a host, without a path: %q", o.PublicURL))
	}
	if o.PageSize < 1 {
		problems = append(problems, errors.New("--page-size must be 1 at least"))
	}
	if o.QuietLimit < time.Second {
		problems = append(problems, errors.New("--task-quiet-limit must be a second at least"))
	}
	return errors.Join(problems...)
}

func (o *options) has(role string) bool { return slices.Contains(o.Roles, role) }

// beatEvery is the pause between the signs of life of a task: a dozen may be missed.
func (o *options) beatEvery() time.Duration { return o.QuietLimit / 12 }

func load(args []string, into any) ([]string, error) { return config.Load(prefix, args, into) }

func readOptional(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read a configured file: %w", err)
	}
	return string(body), nil
}
