// Package app is what every command works with: the world of a run ([Env]), its options, its output, and its
// errors with their hints and exit statuses.
package app
