// Package term prepares text for a terminal: it removes escape sequences, quotes words for a shell, and parses and
// formats times and counts.
package term
