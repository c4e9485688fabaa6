// Package memo remembers what texts came to, within bounds of memory.
package memo

import "sync"

// Memo remembers values by the texts that they were made from. It forgets all of them when the texts have
// grown beyond its size. Its zero value remembers only the last one; it is safe for concurrent use. Whoever
// gets a value shares it with everybody else, and must not change it.
type Memo[V any] struct {
	// Size bounds the bytes of the texts.
	Size int

	mu     sync.Mutex // protects what follows
	values map[string]V
	size   int
}

// Of gives what was made from a text before, or makes it now. An error is not remembered.
func (m *Memo[V]) Of(text string, anew func() (V, error)) (V, error) {
	m.mu.Lock()
	known, is := m.values[text]
	m.mu.Unlock()
	if is {
		return known, nil
	}
	made, err := anew()
	if err != nil {
		return made, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.size += len(text); m.values == nil || m.size > m.Size {
		m.values, m.size = map[string]V{}, len(text)
	}
	m.values[text] = made
	return made, nil
}
