package main

import (
	"runtime"
	"syscall"
	"unsafe"
)

// The size of a huge page, and the advice to use them: MADV_HUGEPAGE of Linux's uapi/asm-generic/mman-common.h, which package
// syscall lacks.
const (
	hugePage   = 2 << 20
	adviseHuge = 14
)

// reserveHeap asks that the next n bytes of the heap come as huge pages. The tables of a compressor are megabytes that are
// filled here and there: faulting them in by 4 KiB costs a short capture a third of its time. The memory is mapped, advised
// and handed back to the heap, which uses it next; nothing of it is touched before that. A system without huge pages
// changes nothing.
func reserveHeap(n int) {
	if n == 0 {
		return
	}
	advise(make([]byte, n+2*hugePage))
	runtime.GC() // little is alive this early
}

func advise(b []byte) {
	start := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (hugePage - 1)) // up to the next huge page
	b = b[start : len(b)-(len(b)-start)%hugePage]
	_ = syscall.Madvise(b, adviseHuge)
}
