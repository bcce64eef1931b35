// Package export writes a project in file formats of other tools, such as facts.json and memory.md.
//
// Nothing of it is stored: memory.md ([MemoryPage]) and every other [Format] are computed from the
// state of the project, so they are always up to date and the same for the same state. memory.md is the rolling summary
// that a session can read first: it never exceeds its token budget, drops the least important items first, and states how
// many it dropped. Text that only tools, files, the web or scripts wrote is not in it.
package export
