package edge

import "sync"

// Crowd bounds how many of a kind there are, in all and of one origin. It is safe
// for concurrent use; its bounds are not to be changed.
type Crowd struct {
	// All is how many there may be; Each how many with one origin.
	All, Each int

	mu    sync.Mutex
	total int
	by    map[string]int
}

// Enter counts one more, under each of its origins, until [Crowd.Leave], or reports
// false when there is no room. An empty origin is that of nobody in particular, and
// counts among all only.
func (c *Crowd) Enter(origins ...string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.total >= c.All {
		return false
	}
	for _, origin := range origins {
		if origin != "" && c.by[origin] >= c.Each {
			return false
		}
	}
	c.total++
	if c.by == nil {
		c.by = make(map[string]int)
	}
	for _, origin := range origins {
		if origin != "" {
			c.by[origin]++
		}
	}
	return true
}

// Leave takes back an [Crowd.Enter] that reported true.
func (c *Crowd) Leave(origins ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total--
	for _, origin := range origins {
		if origin == "" {
			continue
		}
		if c.by[origin]--; c.by[origin] == 0 {
			delete(c.by, origin)
		}
	}
}
