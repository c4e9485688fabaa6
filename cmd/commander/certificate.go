package main

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// keyPair is a certificate that is read again when its file changes, so that a renewal needs no restart.
type keyPair struct {
	cert, key string

	mu      sync.Mutex // protects the rest
	loaded  *tls.Certificate
	changed time.Time // of the certificate's file when it was loaded
	looked  time.Time
}

// lookEvery bounds how often the file is looked at.
const lookEvery = 10 * time.Second

// get serves the newest certificate that could be read; a broken renewal leaves the old one.
func (k *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.loaded != nil && time.Since(k.looked) < lookEvery {
		return k.loaded, nil
	}
	k.looked = time.Now()
	at, err := os.Stat(k.cert)
	if err == nil && k.loaded != nil && at.ModTime().Equal(k.changed) {
		return k.loaded, nil
	}
	pair, loadErr := tls.LoadX509KeyPair(k.cert, k.key)
	if loadErr != nil {
		if k.loaded != nil {
			return k.loaded, nil
		}
		return nil, fmt.Errorf("read the certificate: %w", loadErr)
	}
	k.loaded = &pair
	if err == nil {
		k.changed = at.ModTime()
	}
	return k.loaded, nil
}
