// Package apiserver is bashible-api-server: an API server behind that of the cluster which gives
// each node the configuration of its group.
package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/api/v1alpha1"
	"commander/agents/node/bashible/input"
	"commander/internal/clock"
	"commander/internal/run"
)

// resync bounds how long an event of an informer that was lost goes unnoticed.
const resync = 30 * time.Minute

// Options are all that the server needs.
type Options struct {
	Listen       Listen
	Cluster      *rest.Config
	Templates    fs.FS
	DigestsFile  string
	VersionsFile string
	Dump         string
	Clock        clock.Clock
	Log          *slog.Logger
}

// Run serves until the context ends. While the API server does not answer at the start it tries
// again: both may be starting.
func Run(ctx context.Context, o Options) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("make kinds known: %w", err)
		}
	}
	backoff := wait.Backoff{Duration: time.Second / 2, Factor: 1.5, Cap: again, Steps: 1000}
	for {
		err := serve(ctx, o, scheme)
		if err == nil || ctx.Err() != nil || !errors.As(err, new(startError)) {
			return err
		}
		o.Log.Warn("not started yet, trying again", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(backoff.Step()):
		}
	}
}

// startError is one before anything was served.
type startError struct{ error }

func (e startError) Unwrap() error { return e.error }

func serve(ctx context.Context, o Options, scheme *runtime.Scheme) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	direct, err := client.New(o.Cluster, client.Options{Scheme: scheme})
	if err != nil {
		return startError{fmt.Errorf("reach API server: %w", err)}
	}
	cached, err := cache.New(o.Cluster, cache.Options{
		Scheme: scheme, SyncPeriod: ptr(resync), ReaderFailOnMissingInformer: true,
		// Two Secrets and no others: it need not be able to see what it does not use.
		ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {Namespaces: map[string]cache.Config{
			api.Namespace:     {FieldSelector: fields.OneTermEqualSelector("metadata.name", input.Secret)},
			registryNamespace: {FieldSelector: fields.OneTermEqualSelector("metadata.name", registrySecret)},
		}}},
	})
	if err != nil {
		return startError{fmt.Errorf("watch cluster: %w", err)}
	}
	served := new(Served)
	builder := &Builder{
		Sources:   Sources{Cluster: cached, DigestsFile: o.DigestsFile, VersionsFile: o.VersionsFile},
		Templates: o.Templates, Served: served, Publish: Publisher{direct}.Publish, Log: o.Log, Dump: o.Dump,
		changed: make(chan struct{}, 1),
	}
	if err := watch(ctx, cached, builder.Changed); err != nil {
		return startError{err}
	}
	listen := o.Listen
	if listen.Listener, err = keepOpen(o.Listen.Listener); err != nil {
		return err
	}
	server, err := newServer(listen, Access{Cached: cached, Direct: direct}, served, o.Clock)
	if err != nil {
		return startError{errors.Join(err, listen.Listener.Close())}
	}
	var group run.Group
	group.Add("cache", cached.Start)
	group.Add("builder", func(ctx context.Context) error {
		if !cached.WaitForCacheSync(ctx) {
			return nil // told to stop
		}
		return builder.Run(ctx)
	})
	group.Add("files", func(ctx context.Context) error {
		return watchFiles(ctx, []string{o.DigestsFile, o.VersionsFile}, builder.Changed)
	})
	group.Add("server", server.PrepareRun().RunWithContext)
	return group.Run(ctx)
}

func ptr[T any](v T) *T { return &v }

// keepOpen gives an attempt a listener of its own on the same socket, so that a failed attempt
// does not close it for the next.
func keepOpen(l net.Listener) (net.Listener, error) {
	tcp, is := l.(*net.TCPListener)
	if !is {
		return l, nil
	}
	file, err := tcp.File()
	if err != nil {
		return nil, fmt.Errorf("share listener: %w", err)
	}
	defer file.Close()
	shared, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("share listener: %w", err)
	}
	return shared, nil
}

// watch calls changed after every event of an object that rendering depends on.
func watch(ctx context.Context, c cache.Cache, changed func()) error {
	told := toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { changed() }, UpdateFunc: func(_, _ any) { changed() }, DeleteFunc: func(any) { changed() },
	}
	nodes := new(metav1.PartialObjectMetadata)
	nodes.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Node"))
	if _, err := c.GetInformer(ctx, nodes, cache.BlockUntilSynced(false)); err != nil {
		return fmt.Errorf("watch nodes: %w", err)
	}
	for _, object := range []client.Object{&corev1.Secret{}, &v1alpha1.NodeGroupConfiguration{}, &v1.NodeUser{}} {
		informer, err := c.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("watch %T: %w", object, err)
		}
		if _, err := informer.AddEventHandler(told); err != nil {
			return fmt.Errorf("watch %T: %w", object, err)
		}
	}
	return nil
}

// watchFiles watches the files' folders: a mounted ConfigMap changes by swapping a link there.
func watchFiles(ctx context.Context, files []string, changed func()) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch files: %w", err)
	}
	defer watcher.Close()
	for _, file := range files {
		if file == "" {
			continue
		}
		if err := watcher.Add(filepath.Dir(file)); err != nil {
			return fmt.Errorf("watch folder of %s: %w", file, err)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-watcher.Events:
			changed()
		case err := <-watcher.Errors:
			return fmt.Errorf("watch files: %w", err)
		}
	}
}
