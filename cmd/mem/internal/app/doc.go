// Package app gives every command its environment ([Env]): flags, settings, the opened memory ([Run]), output, and errors
// with hints and exit statuses. It resolves and completes the names of projects, sessions and versions on the command line.
package app
