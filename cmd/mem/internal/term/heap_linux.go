package term

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

// ReserveHeap asks that the next n bytes of the heap come as huge pages. The tables of a compressor are megabytes that are
// filled here and there: faulting them in by 4 KiB costs a short capture a third of its time. The memory is mapped, advised
// and handed back to the heap, which uses it next. It is taken in pieces, because the runtime clears all of a block that
// begins in memory which was used before: so only the first piece is ever touched. A system without huge pages changes nothing.
func ReserveHeap(n int) {
	if n == 0 {
		return
	}
	var pieces, run [][]byte
	for ; n > -hugePage; n -= hugePage {
		b := make([]byte, hugePage)
		pieces = append(pieces, b)
		if len(run) > 0 && behind(run[len(run)-1]) != address(b) {
			advise(run)
			run = run[:0]
		}
		run = append(run, b)
	}
	advise(run)
	runtime.KeepAlive(pieces)
	runtime.GC() // little is alive this early
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
func behind(b []byte) uintptr  { return address(b) + uintptr(len(b)) }

// advise asks for huge pages in pieces that lie one behind the other.
func advise(run [][]byte) {
	from := (address(run[0]) + hugePage - 1) &^ (hugePage - 1)
	to := behind(run[len(run)-1]) &^ (hugePage - 1)
	if from < to {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, adviseHuge)
	}
}
