package sync

import (
	"os"

	"github.com/memvcs/mem/objects"
)

// brokeOff returns the file that is there while a push of more than a parcel to the remote is under way, or
// after it broke off. It lies in the cache: without it the next push sends more at once, no more.
func (p *pusher) brokeOff() string {
	return p.m.CachePath("pushing", objects.Sum([]byte(p.o.Remote.Name+"\n"+p.o.Remote.URL)).Short())
}

// atOnce returns about how much one push sends at once.
func (p *pusher) atOnce() int64 {
	if _, err := os.Lstat(p.brokeOff()); err == nil {
		return p.m.Parcels.Smallest()
	}
	return p.m.Parcels.Largest()
}

// begins notes that so many bytes are about to be sent, whatever becomes of it.
func (p *pusher) begins(n int64) {
	if n > p.m.Parcels.Smallest() {
		p.m.WriteCacheBytes(p.brokeOff(), nil)
	}
}

// wentThrough notes that all was sent.
func (p *pusher) wentThrough() { _ = os.Remove(p.brokeOff()) } // if it stays, the next push sends less at once
