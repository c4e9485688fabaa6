package config

import (
	"errors"
	"fmt"
)

// ValidateInit checks an InitConfiguration: how the platform is installed the first time.
// Further documents beside it are allowed when they are well formed.
func ValidateInit(text string, strict bool) error {
	doc, err := only(text, "InitConfiguration")
	if err != nil {
		return err
	}
	var c struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Deckhouse  struct {
			ImagesRepo        string         `json:"imagesRepo"`
			RegistryDockerCfg string         `json:"registryDockerCfg"`
			RegistryScheme    string         `json:"registryScheme"`
			RegistryCA        string         `json:"registryCA"`
			DevBranch         string         `json:"devBranch"`
			ReleaseChannel    string         `json:"releaseChannel"`
			Bundle            string         `json:"bundle"`
			LogLevel          string         `json:"logLevel"`
			ConfigOverrides   map[string]any `json:"configOverrides"`
		} `json:"deckhouse"`
	}
	if err := decode(doc.Raw, strict, &c); err != nil {
		return fmt.Errorf("InitConfiguration: %w", err)
	}
	var all []error
	if c.APIVersion != clusterAPIVersion {
		all = append(all, fmt.Errorf("InitConfiguration: apiVersion: %q is not %s", c.APIVersion, clusterAPIVersion))
	}
	switch c.Deckhouse.RegistryScheme {
	case "", "HTTP", "HTTPS":
	default:
		all = append(all, fmt.Errorf("InitConfiguration: deckhouse.registryScheme: %q is neither HTTP nor HTTPS", c.Deckhouse.RegistryScheme))
	}
	return errors.Join(all...)
}
