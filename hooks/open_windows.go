package hooks

// noFollow has no meaning here: the store is private.
const noFollow = 0

// strictDirs says that a directory can be flushed.
const strictDirs = false
