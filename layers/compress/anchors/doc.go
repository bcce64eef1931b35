// Package anchors finds the subjects of a text: names of files and symbols, issues, hashes, numbers, word stems, and
// the clauses and commands that contain them.
package anchors
