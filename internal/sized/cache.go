package sized

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache keeps the values used last, within a number and a number of bytes. It is safe
// for concurrent use.
type Cache[K comparable, V any] struct {
	bytes int
	size  func(V) int

	mu    sync.Mutex
	lru   *simplelru.LRU[K, V]
	total int
}

// New returns a cache of at most so many values with at most so many bytes together;
// size tells how many bytes a value has. The error is one of a count below 1.
func New[K comparable, V any](count, bytes int, size func(V) int) (*Cache[K, V], error) {
	c := &Cache[K, V]{bytes: bytes, size: size}
	var err error
	c.lru, err = simplelru.NewLRU(count, func(_ K, v V) { c.total -= c.size(v) })
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Get returns a value, and whether there is one.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Get(key)
}

// Add keeps a value in place of any other with its key. One that is larger than all may
// be together is not kept, nor is what it replaces.
func (c *Cache[K, V]) Add(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Remove(key)
	size := c.size(value)
	if size > c.bytes {
		return
	}
	c.total += size
	c.lru.Add(key, value)
	for c.total > c.bytes {
		c.lru.RemoveOldest()
	}
}

// Remove forgets a value, and reports whether there was one.
func (c *Cache[K, V]) Remove(key K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Remove(key)
}

// Purge forgets everything.
func (c *Cache[K, V]) Purge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Purge()
}
