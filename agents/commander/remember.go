package commander

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"commander/agents/agentapi"
)

var secrets = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}

const (
	configName = "last-configuration"
	configKey  = "config.json.gz"
	// secretLimit is Kubernetes' bound for the content of a Secret, in bytes.
	secretLimit = 1 << 20
)

// storeConfig keeps a configuration in a Secret, because manifests may hold secrets.
func (k *kube) storeConfig(ctx context.Context, c agentapi.Config) error {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if err := json.NewEncoder(w).Encode(c); err != nil {
		return fmt.Errorf("pack configuration: %w", err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("pack configuration: %w", err)
	}
	if packed.Len() > secretLimit {
		return fmt.Errorf("configuration of %d bytes (packed) is larger than a Secret may be", packed.Len())
	}
	return k.applyOwn(ctx, secrets, "Secret", configName, map[string]any{
		"data": map[string]any{configKey: base64.StdEncoding.EncodeToString(packed.Bytes())},
	})
}

// loadConfig gives the configuration that was stored last, if there is one.
func (k *kube) loadConfig(ctx context.Context) (agentapi.Config, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	secret, err := k.dynamic.Resource(secrets).Namespace(k.home).Get(ctx, configName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return agentapi.Config{}, false, nil
	}
	if err != nil {
		return agentapi.Config{}, false, fmt.Errorf("read Secret %s: %w", configName, err)
	}
	text, _, err := unstructured.NestedString(secret.Object, "data", configKey)
	if err != nil {
		return agentapi.Config{}, false, fmt.Errorf("read Secret %s: %w", configName, err)
	}
	config, err := unpackConfig(text)
	return config, err == nil, err
}

func unpackConfig(text string) (agentapi.Config, error) {
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return agentapi.Config{}, fmt.Errorf("unpack configuration: %w", err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return agentapi.Config{}, fmt.Errorf("unpack configuration: %w", err)
	}
	var c agentapi.Config
	if err := json.NewDecoder(io.LimitReader(r, agentapi.MaxConfigBytes)).Decode(&c); err != nil {
		return agentapi.Config{}, fmt.Errorf("unpack configuration: %w", err)
	}
	return c, nil
}
