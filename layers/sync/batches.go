package sync

import (
	"os"

	"github.com/memvcs/mem/objects"
)

// interruptedFile returns the file that exists while a push of more than one batch is running, and after it was
// interrupted. It is in the cache: without it the next push only sends larger batches.
func (p *pusher) interruptedFile() string {
	return p.m.CachePath("pushing", objects.Sum([]byte(p.o.Remote.Name+"\n"+p.o.Remote.URL)).Short())
}

// batchSize returns the approximate size of a batch.
func (p *pusher) batchSize() int64 {
	if _, err := os.Lstat(p.interruptedFile()); err == nil {
		return p.m.Parcels.Smallest()
	}
	return p.m.Parcels.Largest()
}

// pushStarts records that a push of n bytes starts.
func (p *pusher) pushStarts(n int64) {
	if n > p.m.Parcels.Smallest() {
		p.m.WriteCacheBytes(p.interruptedFile(), nil)
	}
}

// pushEnded records that the push is complete.
func (p *pusher) pushEnded() { _ = os.Remove(p.interruptedFile()) } // if it stays, the next push sends smaller batches
