package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/internal/oci"
	"commander/store"
)

// ReleaseChannels are the channels of the platform, the most cautious last.
var ReleaseChannels = []string{"alpha", "beta", "early-access", "stable", "rock-solid"}

// Release is what a channel leads to now.
type Release struct {
	Channel string
	// Version is empty when the registry has nothing in the channel.
	Version string
}

// Of an image of the repository's release-channel: a JSON document with the version.
const (
	releaseImages   = "release-channel"
	releaseFile     = "version.json"
	longestRelease  = 1 << 20
	longestReported = 60 // characters of a version that makes no sense
)

var releaseVersion = regexp.MustCompile(`^v?\d+\.\d+\.\d+([.+-][0-9A-Za-z.+-]*)?$`)

// repository is a registry with its password, as the client wants it.
func (f *Fleet) repository(r store.Registry) (oci.Repository, error) {
	password, err := f.Store.Keys.Unseal("registries", "password", r.ID, r.Password, r.PasswordKey)
	if err != nil {
		return oci.Repository{}, err
	}
	host, path, _ := strings.Cut(r.ImagesRepo, "/")
	return oci.Repository{
		Scheme: r.Scheme, Host: host, Path: path, Username: r.Username, Password: string(password), CA: r.Ca,
	}, nil
}

// Releases asks a registry which version of the platform each channel has. It really contacts the
// registry, and fails with Unavailable or Invalid and what is wrong with it.
func (f *Fleet) Releases(ctx context.Context, actor Actor, id uuid.UUID) ([]Release, error) {
	registry, err := f.Registry(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	at, err := f.repository(registry)
	if err != nil {
		return nil, err
	}
	client, err := oci.New(at)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "registry.certificate", at.Host)
	}
	defer client.Close()
	tags, err := client.Tags(ctx, releaseImages)
	if err != nil {
		return nil, registryProblem(err, at)
	}
	there := map[string]bool{}
	for _, tag := range tags {
		there[tag] = true
	}
	releases := make([]Release, 0, len(ReleaseChannels))
	for _, channel := range ReleaseChannels {
		release := Release{Channel: channel}
		if there[channel] {
			if release.Version, err = releaseOf(ctx, client, channel); err != nil {
				return nil, registryProblem(err, at)
			}
		}
		releases = append(releases, release)
	}
	return releases, nil
}

func releaseOf(ctx context.Context, client *oci.Client, channel string) (string, error) {
	body, err := client.File(ctx, releaseImages, channel, releaseFile, longestRelease)
	if err != nil {
		return "", err
	}
	var document struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(body, &document); err != nil || !releaseVersion.MatchString(document.Version) {
		return "", fmt.Errorf("%w: the channel %s says version %.*q", oci.ErrProtocol, channel, longestReported, document.Version)
	}
	return document.Version, nil
}

// registryProblem says in people's words what is wrong.
func registryProblem(err error, at oci.Repository) error {
	for _, known := range []struct {
		is   error
		kind fault.Kind
		key  string
	}{
		{oci.ErrUnreachable, fault.Unavailable, "registry.unreachable"},
		{oci.ErrCertificate, fault.Invalid, "registry.certificate"},
		{oci.ErrDenied, fault.Invalid, "registry.denied"},
		{oci.ErrNotFound, fault.Invalid, "registry.no_releases"},
		{oci.ErrProtocol, fault.Invalid, "registry.not_a_registry"},
		{oci.ErrTooLarge, fault.Invalid, "registry.not_a_registry"},
	} {
		if errors.Is(err, known.is) {
			return fault.Wrap(known.kind, err, known.key, at.Host)
		}
	}
	return err
}
