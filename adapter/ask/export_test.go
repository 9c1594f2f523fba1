package ask

// Waiting returns how many requests are placed, how many plain calls wait for an
// answer, and how many tasks somebody waits for.
func (d *Desk) Waiting() (placed, calls, seats int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.placed), len(d.calls), len(d.seats)
}
