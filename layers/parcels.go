package layers

import (
	"cmp"
	"os"

	"github.com/memvcs/mem/objects"
)

const (
	// wholeBytes is about how much one push sends at once. Before git answers a fetch it looks for differences between large
	// objects that lie in different packs, about a second for each 20 MB, and finds none: what is pushed first is best one pack. Hosts
	// take up to 2 GB.
	wholeBytes = 1 << 30
	// parcelBytes is that after a push of more broke off, until one has gone through. What has arrived stays, so that an interrupted
	// push goes on from there.
	parcelBytes = 64 << 20
)

// parcelSizes are the two in bytes; zero is wholeBytes and parcelBytes.
type parcelSizes struct{ whole, part int64 }

func (s parcelSizes) largest() int64  { return cmp.Or(s.whole, wholeBytes) }
func (s parcelSizes) smallest() int64 { return cmp.Or(s.part, parcelBytes) }

// brokeOff returns the file that is there while a push of more than a parcel to the remote is under way, or after it broke off. It
// lies in the cache: without it the next push sends more at once, no more.
func (p *pusher) brokeOff() string {
	return p.m.cachePath("pushing", objects.Sum([]byte(p.o.Remote.Name+"\n"+p.o.Remote.URL)).Short())
}

// atOnce returns about how much one push sends at once.
func (p *pusher) atOnce() int64 {
	if _, err := os.Lstat(p.brokeOff()); err == nil {
		return p.m.parcels.smallest()
	}
	return p.m.parcels.largest()
}

// begins notes that so many bytes are about to be sent, whatever becomes of it.
func (p *pusher) begins(n int64) {
	if n > p.m.parcels.smallest() {
		p.m.writeCacheBytes(p.brokeOff(), nil)
	}
}

// wentThrough notes that all was sent.
func (p *pusher) wentThrough() { _ = os.Remove(p.brokeOff()) } // if it stays, the next push sends less at once
