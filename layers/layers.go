package layers

// Close writes what was counted to the cache and releases what the memory holds open.
func (m *Memory) Close() error {
	m.Capture().WriteTokens()
	m.EvictSometimes()
	if m.CacheDir != nil {
		m.CacheDir.Close() // nothing was written to it
	}
	return m.Refs.Close()
}
