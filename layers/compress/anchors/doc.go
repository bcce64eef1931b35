// Package anchors finds what a text is about: names of files and symbols, issues, hashes, numbers, word stems,
// and the clauses and commands that hold them.
package anchors
