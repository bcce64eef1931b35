//go:build !linux

package app

// lowerPriority does nothing here.
func lowerPriority() {}
