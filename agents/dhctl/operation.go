package dhctl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"commander/agents/dhctl/config"
	"commander/agents/dhctl/phases"
	"commander/agents/dhctl/state"
)

// request is what every operation is asked with.
type request struct {
	operation         string
	options           options
	cluster, provider string
	// connection is how machines are reached, for operations that do it by SSH.
	connection string
	state      string
	// kubeconfig reaches a cluster that was not made here; of operations on one that is attached
	// already it stands in the state.
	kubeconfig string
	// withoutDocuments is for operations that find the documents in the cluster.
	withoutDocuments bool
	// lenient is for operations that must end even when the documents are out of date.
	lenient bool
}

// options is what the options of all operations have.
type options interface {
	GetCommanderMode() bool
	GetCommanderUuid() string
	GetResourcesTimeout() string
	GetDeckhouseTimeout() string
}

// speaker is the part of a conversation that an operation needs.
type speaker interface {
	line(string)
	caller() phases.Caller
}

// operation is one at work.
type operation struct {
	request
	id     string
	engine Engine
	cache  *state.Cache
	log    func(string)
	// document is the ClusterConfiguration alone; others may stand beside it in cluster.
	document string
	wanted   Infra

	connect Connect
	opened  API

	resourcesTimeout, deckhouseTimeout time.Duration
}

// clusterID is the form of a cluster's id: a file name on every machine.
var clusterID = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// idEntry is where the state says whose it is.
const idEntry = "uuid"

// defaultTimeout bounds waiting for a cluster's API, and for one object to be applied.
const defaultTimeout = 10 * time.Minute

// operate runs an operation under the cluster's lock and returns its outcome, in which the
// state is always the last one that was written.
func (s *Server) operate(ctx context.Context, t speaker, r request, steps func(*operation) ([]phases.Step, error)) outcome {
	o, release, err := s.begin(ctx, t, r)
	if err != nil {
		return outcome{state: r.state, err: err.Error()}
	}
	defer release()
	err = o.run(ctx, t.caller(), steps)
	out := outcome{}
	if err != nil && !errors.Is(err, phases.ErrStop) {
		out.err = err.Error()
	}
	if out.state, err = o.cache.Blob(); err != nil {
		out.err = strings.TrimPrefix(out.err+"; "+err.Error(), "; ")
		out.state = r.state
	}
	return out
}

func (s *Server) begin(ctx context.Context, t speaker, r request) (*operation, func(), error) {
	o := &operation{request: r, connect: s.Connect, log: t.line, id: r.options.GetCommanderUuid()}
	if !r.options.GetCommanderMode() {
		return nil, nil, errors.New("commander mode is required")
	}
	if !clusterID.MatchString(o.id) {
		return nil, nil, fmt.Errorf("commander_uuid %q is not a UUID", o.id)
	}
	if _, err := config.ParseConnection(r.connection, true, false); err != nil && !r.lenient {
		return nil, nil, fmt.Errorf("read the connection: %w", err)
	}
	err := s.choose(o)
	if err != nil {
		return nil, nil, err
	}
	if o.resourcesTimeout, err = timeout("resources_timeout", r.options.GetResourcesTimeout()); err != nil {
		return nil, nil, err
	}
	if o.deckhouseTimeout, err = timeout("deckhouse_timeout", r.options.GetDeckhouseTimeout()); err != nil {
		return nil, nil, err
	}
	release, err := lock(ctx, s.LockDir, o.id, r.operation, s.LockWait)
	if err != nil {
		return nil, nil, err
	}
	folder := filepath.Join(s.CacheDir, "cache_"+o.id)
	if o.cache, err = state.Open(folder, r.state); err != nil && r.lenient {
		o.log("The state cannot be read and is begun anew: " + err.Error())
		o.cache, err = state.Open(folder, "")
	}
	if err == nil {
		err = o.claim()
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return o, release, nil
}

// choose finds the engine: that of the kind of cluster, or the one for clusters that were not made
// here when the state or the request says how such a one is reached.
func (s *Server) choose(o *operation) error {
	if !o.withoutDocuments {
		cluster, err := config.ParseCluster(o.cluster, !o.lenient)
		if err != nil {
			return err
		}
		o.document = cluster.Document
		known, err := state.Decode(o.state)
		if err != nil && !o.lenient {
			return err
		}
		o.kubeconfig = string(known[kubeconfigEntry])
		if o.kubeconfig == "" {
			o.engine, err = engine(s.Engines, cluster.Provider())
			return err
		}
	}
	o.engine = &existing{kubeconfig: []byte(o.kubeconfig), connect: s.Connect, host: s.host(), agentImage: s.AgentImage, log: o.log}
	return nil
}

// host is the engine that can run agents for clusters that were not made here, nil when none can.
func (s *Server) host() Host {
	for _, kind := range slices.Sorted(maps.Keys(s.Engines)) {
		if h, can := s.Engines[kind].(Host); can {
			return h
		}
	}
	return nil
}

// claim makes sure that the state is this cluster's.
func (o *operation) claim() error {
	was, err := o.cache.Read(idEntry)
	if err != nil {
		return err
	}
	if was != nil && string(was) != o.id {
		return fmt.Errorf("the state belongs to cluster %s, not to %s", was, o.id)
	}
	if o.kubeconfig != "" {
		if err := o.cache.Write(kubeconfigEntry, []byte(o.kubeconfig)); err != nil {
			return err
		}
	}
	return o.cache.Write(idEntry, []byte(o.id))
}

// run turns a panic of the work into an error with its stack.
func (o *operation) run(ctx context.Context, caller phases.Caller, steps func(*operation) ([]phases.Step, error)) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	all, err := steps(o)
	if err != nil {
		return err
	}
	err = phases.Run(ctx, o.operation, all, o.cache, caller)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, phases.ErrStop) && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// input identifies what the work of phases depends on.
func input(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d %s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// want reads the documents with the engine's eyes.
func (o *operation) want() (err error) {
	o.wanted, err = o.engine.Wanted(o.document, o.provider)
	return err
}

// api opens the cluster's API once.
func (o *operation) api(ctx context.Context) (API, error) {
	if o.opened != nil {
		return o.opened, nil
	}
	kubeconfig, err := o.engine.Kubeconfig(ctx, o.id)
	if err != nil {
		return nil, fmt.Errorf("fetch kubeconfig: %w", err)
	}
	o.opened, err = o.connect(kubeconfig)
	return o.opened, err
}

func timeout(field, text string) (time.Duration, error) {
	if text == "" {
		return defaultTimeout, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s: %q is not a duration like 10m", field, text)
	}
	return d, nil
}
