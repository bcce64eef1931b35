//go:build !linux

package main

// reserveHeap does nothing: only Linux takes advice on huge pages.
func reserveHeap(int) {}
