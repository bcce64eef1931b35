package hooks

import "os"

// noFollow is not needed: the store is private.
const noFollow = 0

// isPrivate is always true: the temporary directory is the user's own.
func isPrivate(os.FileInfo) bool { return true }
