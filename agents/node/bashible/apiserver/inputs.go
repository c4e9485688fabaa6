package apiserver

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/api/v1alpha1"
	"commander/agents/node/bashible/input"
	"commander/agents/node/bashible/render"
)

// Where the registry that images and packages come from is described.
const (
	registryNamespace = "d8-system"
	registrySecret    = "deckhouse-registry"
	registryDocker    = ".dockerconfigjson"
)

// Sources are where the input of rendering is read from.
type Sources struct {
	Cluster      client.Reader
	DigestsFile  string // JSON; a missing file is no digests
	VersionsFile string // YAML with the keys bashible and k8s; a missing file is no versions
}

// errMissing names the object without which nothing is rendered.
var errMissing = errors.New("is not there yet")

// read gathers everything. locked says that what is served must stay as it is.
func (s Sources) read(ctx context.Context) (in render.Input, locked bool, err error) {
	context, err := s.secret(ctx, api.Namespace, input.Secret)
	if err != nil {
		return in, false, err
	}
	registry, err := s.secret(ctx, registryNamespace, registrySecret)
	if err != nil {
		return in, false, err
	}
	if in.Cluster, err = input.Parse(context.Data[input.Key]); err != nil {
		return in, false, err
	}
	in.Registry = registryOf(registry)
	if in.Images, err = fileOf(s.DigestsFile); err != nil {
		return in, false, err
	}
	if in.Versions, err = fileOf(s.VersionsFile); err != nil {
		return in, false, err
	}
	scripts, users := new(v1alpha1.NodeGroupConfigurationList), new(v1.NodeUserList)
	if err := errors.Join(s.Cluster.List(ctx, scripts), s.Cluster.List(ctx, users)); err != nil {
		return in, false, fmt.Errorf("list scripts and users: %w", err)
	}
	// By name and in order, and without what changes by itself: a status makes nobody render.
	for _, script := range scripts.Items {
		in.Scripts = append(in.Scripts, v1alpha1.NodeGroupConfiguration{ObjectMeta: metav1.ObjectMeta{Name: script.Name}, Spec: script.Spec})
	}
	for _, user := range users.Items {
		in.Users = append(in.Users, v1.NodeUser{ObjectMeta: metav1.ObjectMeta{Name: user.Name}, Spec: user.Spec})
	}
	slices.SortFunc(in.Scripts, func(a, b v1alpha1.NodeGroupConfiguration) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(in.Users, func(a, b v1.NodeUser) int { return cmp.Compare(a.Name, b.Name) })
	return in, context.Annotations[input.AnnotationLocked] == "true", nil
}

func (s Sources) secret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	found := new(corev1.Secret)
	err := s.Cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("secret %s/%s %w", namespace, name, errMissing)
	}
	if err != nil {
		return nil, fmt.Errorf("get secret %s/%s: %w", namespace, name, err)
	}
	return found, nil
}

// registryOf gives templates the keys of the Secret, and the credentials that it holds as
// containerd wants them.
func registryOf(secret *corev1.Secret) map[string]any {
	registry := map[string]any{}
	for key, value := range secret.Data {
		registry[key] = string(value)
	}
	docker := secret.Data[registryDocker]
	delete(registry, registryDocker)
	registry["dockerCfg"] = base64.StdEncoding.EncodeToString(docker)
	var credentials struct {
		Auths map[string]struct {
			Auth string `json:"auth"`
		} `json:"auths"`
	}
	if json.Unmarshal(docker, &credentials) == nil { // else a registry without a login
		registry["auth"] = credentials.Auths[string(secret.Data["address"])].Auth
	}
	return registry
}

func fileOf(name string) (map[string]any, error) {
	content := map[string]any{}
	if name == "" {
		return content, nil
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return content, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if err := yaml.Unmarshal(text, &content); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return content, nil
}
