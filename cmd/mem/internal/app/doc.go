// Package app gives every command its environment ([Env]): flags, output, and errors with hints and exit
// statuses.
package app
