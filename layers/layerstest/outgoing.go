package layerstest

// Never finds nothing.
func Never(string) bool { return false }
