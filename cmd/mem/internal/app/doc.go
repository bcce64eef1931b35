// Package app gives every command its environment ([Env]): options, output, and errors with hints and exit
// statuses.
package app
