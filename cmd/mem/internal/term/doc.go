// Package term makes text fit for a terminal: it removes escape sequences, quotes words for a shell and reads
// times and counts.
package term
