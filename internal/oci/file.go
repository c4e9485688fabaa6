package oci

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
	"strings"
)

// Media types of what a tag leads to, and of layers that are packed.
const (
	manifestTypes = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json, " +
		"application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json"
	// longestLayer bounds what is unpacked of one layer: a scratch image with a small file is far below.
	longestLayer = 64 << 20
	mostLayers   = 32
)

type descriptor struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int64  `json:"size"`
}

type manifest struct {
	Manifests []descriptor `json:"manifests"` // of an index
	Layers    []descriptor `json:"layers"`
}

// File reads one file of an image in a repository below the client's, at most limit bytes. It
// fails with ErrNotFound when the image or the file is not there.
func (c *Client) File(ctx context.Context, sub, tag, name string, limit int64) ([]byte, error) {
	body, err := c.file(ctx, sub, tag, name, limit)
	if err != nil {
		return nil, fmt.Errorf("read %s of %s:%s: %w", name, strings.Trim(c.at.Path+"/"+sub, "/"), tag, err)
	}
	return body, nil
}

func (c *Client) file(ctx context.Context, sub, tag, name string, limit int64) ([]byte, error) {
	var found manifest
	if err := c.document(ctx, c.address(sub, "manifests", tag), manifestTypes, &found); err != nil {
		return nil, err
	}
	if len(found.Layers) == 0 && len(found.Manifests) > 0 {
		// One file is the same for every platform.
		if err := c.document(ctx, c.address(sub, "manifests", found.Manifests[0].Digest), manifestTypes, &found); err != nil {
			return nil, err
		}
	}
	if len(found.Layers) > mostLayers {
		return nil, ErrTooLarge
	}
	for i := len(found.Layers) - 1; i >= 0; i-- { // a later layer hides what an earlier one has
		body, err := c.inLayer(ctx, sub, found.Layers[i], name, limit)
		if !errors.Is(err, io.EOF) {
			return body, err
		}
	}
	return nil, ErrNotFound
}

// inLayer looks for a file in a layer and checks the layer against its digest; io.EOF says that
// the file is not there.
func (c *Client) inLayer(ctx context.Context, sub string, layer descriptor, name string, limit int64) ([]byte, error) {
	want, is := strings.CutPrefix(layer.Digest, "sha256:")
	if !is {
		return nil, fmt.Errorf("%w: the digest %q is of another kind", ErrProtocol, layer.Digest)
	}
	response, err := c.get(ctx, c.address(sub, "blobs", layer.Digest), "*/*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	sum := sha256.New()
	packed := bufio.NewReader(io.TeeReader(io.LimitReader(response.Body, longestLayer), sum))
	body, err := search(packed, name, limit)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if _, rest := io.Copy(io.Discard, packed); rest != nil {
		return nil, broken(rest)
	}
	if got := digest(sum); got != want {
		return nil, fmt.Errorf("%w: a layer has the digest %s instead of %s", ErrProtocol, got, want)
	}
	return body, err
}

func digest(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)) }

func search(packed *bufio.Reader, name string, limit int64) ([]byte, error) {
	var plain io.Reader = packed
	if magic, err := packed.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		unpacked, err := gzip.NewReader(packed)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
		}
		plain = unpacked
	}
	files := tar.NewReader(io.LimitReader(plain, longestLayer))
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
		}
		if header.Typeflag != tar.TypeReg || path.Clean("/"+header.Name) != path.Clean("/"+name) {
			continue
		}
		if header.Size > limit {
			return nil, ErrTooLarge
		}
		body, err := io.ReadAll(files)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
		}
		return body, nil
	}
}
