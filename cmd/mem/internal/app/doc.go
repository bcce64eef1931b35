// Package app gives every command its environment ([Env]): flags, settings, the opened memory, output, and errors with
// hints and exit statuses.
package app
