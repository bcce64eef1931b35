// Package export writes a project in file formats of other tools, such as manifest.json, facts.json and memory.md.
//
// Nothing of it is stored: a [Manifest], memory.md ([MemoryPage]) and every other [Format] are computed from the
// state of the project.
package export
