package fleet

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"commander/store"
)

// installFrom tells the installer of a cluster which registry to take the platform from, in its
// InitConfiguration, whatever the template says there. In the mode Unmanaged, and without a registry
// of its own, a cluster has what its template says. It gives the texts that are secrets as well.
func (f *Fleet) installFrom(ctx context.Context, tx *store.Tx, cluster store.Cluster, text string) (_ string, secrets []string, err error) {
	if cluster.RegistryID == nil || cluster.RegistryMode == RegistryUnmanaged {
		return text, nil, nil
	}
	registry, err := tx.Registry(ctx, *cluster.RegistryID)
	if err != nil {
		return text, nil, fmt.Errorf("read the registry of cluster %s: %w", cluster.ID, err)
	}
	password, err := tx.Keys.Unseal("registries", "password", registry.ID, registry.Password, registry.PasswordKey)
	if err != nil {
		return text, nil, err
	}
	settings := map[string]string{"imagesRepo": registry.ImagesRepo, "registryScheme": strings.ToUpper(registry.Scheme)}
	if registry.Ca != "" {
		settings["registryCA"] = registry.Ca
	}
	if registry.Username != "" {
		access, err := dockerConfig(registry, string(password))
		if err != nil {
			return text, nil, err
		}
		settings["registryDockerCfg"] = access
		secrets = append(secrets, string(password), access)
	}
	text, err = withRegistry(text, settings)
	return text, secrets, err
}

// dockerConfig is the access to a registry in the form of Docker's config.json, in base64.
func dockerConfig(registry store.Registry, password string) (string, error) {
	host, _, _ := strings.Cut(registry.ImagesRepo, "/")
	body, err := json.Marshal(map[string]any{"auths": map[string]any{host: map[string]string{
		"auth": base64.StdEncoding.EncodeToString([]byte(registry.Username + ":" + password)),
	}}})
	if err != nil {
		return "", fmt.Errorf("describe the access to registry %s: %w", registry.Name, err)
	}
	return base64.StdEncoding.EncodeToString(body), nil
}

// withRegistry writes settings into the document InitConfiguration of a text, which gets one when it
// has none. Other documents stay.
func withRegistry(text string, settings map[string]string) (string, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	written := false
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document map[string]any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("read the InitConfiguration: %w", err)
		}
		if document == nil {
			continue
		}
		if document["kind"] == "InitConfiguration" {
			written = true
			put(document, settings)
		}
		if err := encoder.Encode(document); err != nil {
			return "", fmt.Errorf("write the InitConfiguration: %w", err)
		}
	}
	if !written {
		document := map[string]any{"apiVersion": "deckhouse.io/v1", "kind": "InitConfiguration"}
		put(document, settings)
		if err := encoder.Encode(document); err != nil {
			return "", fmt.Errorf("write the InitConfiguration: %w", err)
		}
	}
	return out.String(), encoder.Close()
}

// put replaces the registry of a document: a part of the template's own would not fit the rest.
func put(document map[string]any, settings map[string]string) {
	deckhouse, is := document["deckhouse"].(map[string]any)
	if !is {
		deckhouse = map[string]any{}
	}
	for _, name := range []string{"imagesRepo", "registryDockerCfg", "registryScheme", "registryCA"} {
		delete(deckhouse, name)
		if value, has := settings[name]; has {
			deckhouse[name] = value
		}
	}
	document["deckhouse"] = deckhouse
}
