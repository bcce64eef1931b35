package originals

import (
	"io"
	"maps"
	"slices"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
)

// Deleted text remains in the files of Claude Code for a while. A capture reads them through a guard, which replaces
// each deleted message by a placeholder of the same length and overwrites each deleted value. So the stored stream is a
// prefix of what the capture reads, and the session can grow.

// A Guard recognises deleted text, which captures must not store again.
type Guard struct {
	m       *state.DB
	purged  *state.Purges
	keys    map[string]bool // of deleted messages
	parts   map[string]bool // of messages with a deleted part that is not known
	seals   Seals
	lengths []sealedLength // ascending
	key     uint64         // for [Roll]
}

// A sealedLength has the rolling hashes of the deleted values of one length, sorted.
type sealedLength struct {
	length int
	rolls  []uint64
}

// NewGuard returns the guard that keeps deleted text out of the captures of a project, nil if nothing was ever deleted.
func NewGuard(db *state.DB, purged *state.Purges) (*Guard, error) {
	s, err := ReadSeals(db)
	if err != nil || s.Count()+len(purged.All) == 0 && !s.Lost {
		return nil, err
	}
	rolls := map[int][]uint64{}
	for _, v := range s.Values {
		rolls[v.Length] = append(rolls[v.Length], v.Roll)
	}
	g := &Guard{m: db, purged: purged, seals: s, key: rollKey(db)}
	g.know(func(q state.StoredPurge) bool { return s.Lost || purged.By(q) != db.Refs.Device().ID })
	for _, key := range s.Parts {
		g.parts[key] = true
	}
	for _, n := range slices.Sorted(maps.Keys(rolls)) {
		g.lengths = append(g.lengths, sealedLength{n, slices.Sorted(slices.Values(rolls[n]))})
	}
	return g, nil
}

// know sets the keys. parts selects the purges of whose messages a deleted part is not known, so that all of each is deleted.
func (g *Guard) know(parts func(state.StoredPurge) bool) {
	g.keys, g.parts = g.purged.Messages(), g.purged.Parts(parts)
	for _, key := range g.seals.Messages {
		g.keys[key] = true
	}
}

// Of returns the guard for what another device has captured, which knows the parts that it has deleted.
func (g *Guard) Of(device string) *Guard {
	of := *g
	of.know(func(q state.StoredPurge) bool { return !g.purged.Acked[device+q.Sum.String()] })
	return &of
}

// Forgotten returns a function that reports whether a text contains a deleted value.
func Forgotten(db *state.DB) (func(text string) bool, error) {
	g, err := NewGuard(db, &state.Purges{})
	if g == nil || err != nil {
		return func(string) bool { return false }, err
	}
	return func(text string) bool { return len(g.Values([]byte(text))) > 0 }, nil
}

// count returns the number of seals of the guard.
func (g *Guard) count() int {
	if g == nil {
		return 0
	}
	return g.seals.Count()
}

// File returns the hash of an overflow file, and reports whether it was deleted or contains a deleted value. The guard
// may be nil.
func (g *Guard) File(r io.Reader) (sum objects.Hash, forgot bool, err error) {
	h := objects.NewHasher()
	if g == nil {
		_, err = io.Copy(h, r)
		return h.Sum(), false, err
	}
	w := &windows{look: func(b []byte) bool { return len(g.Values(b)) > 0 }}
	if n := len(g.lengths); n > 0 {
		w.most = g.lengths[n-1].length
	}
	_, err = io.Copy(io.MultiWriter(h, w), r)
	return h.Sum(), w.Done() || slices.Contains(g.seals.Files, SealFile(g.m, h.Sum())), err
}

// Values returns the spans of deleted values in b.
func (g *Guard) Values(b []byte) [][2]int {
	var out [][2]int
	for _, l := range g.lengths {
		out = append(out, FindSealed(b, l.length, g.key, func(h uint64) bool {
			_, found := slices.BinarySearch(l.rolls, h)
			return found
		}, func(text []byte) bool {
			return g.seals.value(SealValue(g.m, text).Seal) >= 0
		})...)
	}
	return Joined(out)
}

// OfMessages returns a guard that recognises messages by their keys, see [KeyOf].
func OfMessages(keys map[string]bool) *Guard {
	return &Guard{purged: &state.Purges{}, seals: Seals{Messages: slices.Collect(maps.Keys(keys))}, keys: keys}
}

// Covers reports whether a value of a session's transcript is deleted as a whole, and returns the spans of the deleted
// values in it: all of it if the deleted part is not known.
func (g *Guard) Covers(session string, v transcript.Value) (whole bool, spots [][2]int) {
	key := ""
	if len(g.keys)+len(g.parts) > 0 || g.seals.Lost {
		key = KeyOf(v)
	}
	if g.keys[key] || key == "" && g.seals.Lost && g.purged.Place(session, g.m.Refs.Device().ID, v.N) ||
		len(g.seals.Records) > 0 && slices.Contains(g.seals.Records, SealRecord(g.m, v.Raw)) {
		return true, nil
	}
	if g.parts[key] {
		return true, [][2]int{{0, len(v.Raw)}}
	}
	return false, g.Values(v.Raw)
}

// KeyOf returns the name in purges of a message and its copies in other sessions, "" for a record that belongs to one
// session, such as a title. It is a hash of what no content can be guessed from: the uuid, or else the type and the time.
func KeyOf(v transcript.Value) string {
	if v.Opaque {
		return ""
	}
	if msg, err := transcript.Skim(v); err == nil && msg.UUID != "" {
		return state.PurgeKey(msg.UUID)
	}
	if place := transcript.Place(v); place != nil {
		return state.PurgeKey(string(place))
	}
	return ""
}

// A SourceFile is a session file to capture.
type SourceFile interface {
	io.ReaderAt
	io.Closer
}

// Masks are put over deleted text in a file, in order.
type Masks []mask

// A mask is size bytes long. If that is more than bytes, the last but one of these is repeated: blanks of a placeholder, which
// may be as long as the message.
type mask struct {
	at, size int64
	bytes    []byte
	whole    bool // the placeholder of a value
}

// longMask is the number of bytes that are kept of a placeholder.
const longMask = 64

// Add adds the masks over a value: over all of it, or over spots in it.
func (m *Masks) Add(v transcript.Value, whole bool, spots [][2]int) {
	if whole {
		*m = append(*m, mask{v.Off, v.Size, Placeholder(int(min(v.Size, longMask)), v.Opaque, IsPrompt(v.Raw)), true})
		return
	}
	if len(spots) == 0 {
		return
	}
	raw := slices.Clone(v.Raw)
	Mask(raw, spots)
	for _, s := range spots {
		*m = append(*m, mask{v.Off + int64(s[0]), int64(s[1] - s[0]), slices.Clone(raw[s[0]:s[1]]), false})
	}
}

// Put puts the masks over b, the bytes of the file from off on. It reports whether all of b is in a placeholder.
func (m Masks) Put(b []byte, off int64) (whole bool) {
	end := off + int64(len(b))
	i, _ := slices.BinarySearchFunc(m, off, func(o mask, off int64) int {
		if o.at+o.size <= off {
			return -1
		}
		return 1
	})
	for ; i < len(m) && m[i].at < end; i++ {
		o := m[i]
		for at := max(off, o.at); at < min(end, o.at+o.size); at++ {
			b[at-off] = o.byte(at - o.at)
		}
		whole = o.whole && o.at <= off && end <= o.at+o.size
	}
	return whole
}

// byte returns the n-th byte of a mask.
func (o *mask) byte(n int64) byte {
	last := int64(len(o.bytes) - 1)
	switch {
	case n < last:
		return o.bytes[n]
	case n < o.size-1:
		return o.bytes[last-1]
	}
	return o.bytes[last]
}

// A guarded file is a file with masks.
type guarded struct {
	SourceFile
	masks Masks
}

// Through returns a session's file of the given size without deleted text.
func (g *Guard) Through(session string, f SourceFile, size int64) (SourceFile, error) {
	out := &guarded{SourceFile: f}
	for v, err := range transcript.Whole(io.NewSectionReader(f, 0, size)) {
		if err != nil {
			return nil, err
		}
		whole, spots := g.Covers(session, v)
		out.masks.Add(v, whole, spots)
	}
	if len(out.masks) == 0 {
		return f, nil
	}
	return out, nil
}

// LeftOut returns the number of records from an offset on that [Guard.Through] left out of a file as a whole.
func LeftOut(f SourceFile, from int64) (n int) {
	if g, ok := f.(*guarded); ok {
		for _, o := range g.masks {
			if o.whole && o.at >= from {
				n++
			}
		}
	}
	return n
}

func (g *guarded) ReadAt(p []byte, off int64) (int, error) {
	n, err := g.SourceFile.ReadAt(p, off)
	g.masks.Put(p[:n], off)
	return n, err
}
