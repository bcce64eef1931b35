//go:build !linux

package main

// yieldPriority does nothing here.
func yieldPriority() {}
