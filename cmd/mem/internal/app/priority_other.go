//go:build !linux

package app

// yieldPriority does nothing here.
func yieldPriority() {}
