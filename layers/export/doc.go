// Package export writes a project in file formats of other tools, such as facts.json and memory.md.
//
// Nothing of it is stored: memory.md ([MemoryPage]) and every other [Format] are computed from the
// state of the project.
package export
