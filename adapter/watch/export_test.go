package watch

// Sizes returns how many shares and sessions the watcher holds.
func (w *Watcher) Sizes() (shares, sessions int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.shares), len(w.homes)
}
