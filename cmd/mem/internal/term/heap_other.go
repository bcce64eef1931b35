//go:build !linux

package term

// ReserveHeap does nothing: only Linux takes advice on huge pages.
func ReserveHeap(int) {}
