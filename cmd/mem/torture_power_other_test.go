//go:build !linux

package main_test

import "context"

// PowerCuts cuts the power of a file system of its own. It needs Linux.
func (r *Rig) PowerCuts(context.Context, int) ([]Promise, error) {
	return nil, skipped("a power cut is simulated on Linux only, by ext4")
}
