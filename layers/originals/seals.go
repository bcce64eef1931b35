package originals

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
)

// Deleted text remains in the files of Claude Code for a while. A capture reads them through a guard, which replaces
// each deleted message by a placeholder of the same length and overwrites each deleted value. So the stored stream is a
// prefix of what the capture reads, and the session can grow.

// sealsFile is the list of the text that this device has deleted, as hashes keyed with the device's key.
const sealsFile = "forgotten.json"

// Seals identify deleted text without containing it.
type Seals struct {
	Values  []SealedValue `json:"values,omitempty"`
	Records []string      `json:"records,omitempty"` // messages without a uuid
	Files   []string      `json:"files,omitempty"`   // overflow files
	Lost    bool          `json:"lost,omitempty"`    // entries were lost: see [Ops.RenewSeals]
}

// ReadSeals returns the seals of the text that this device has deleted. A damaged file is an error, because captures
// would store deleted text again.
func (m Ops) ReadSeals() (s Seals, err error) {
	_, err = m.Refs.ReadNote(sealsFile, &s)
	return s, err
}

// Count returns the number of seals. It never decreases.
func (s *Seals) Count() int { return len(s.Values) + len(s.Records) + len(s.Files) }

// value returns the index of the value with a seal, -1 for none.
func (s *Seals) value(seal string) int {
	return slices.IndexFunc(s.Values, func(v SealedValue) bool { return v.Seal == seal })
}

// MaskAsDigits returns a function that reports whether digits of a deleted value are overwritten with nines even in
// strings, see [Mask].
func (m Ops) MaskAsDigits(s Seals) func(spot []byte) bool {
	return func(spot []byte) bool {
		i := s.value(m.SealValue(spot).Seal)
		return i >= 0 && !s.Values[i].Stars
	}
}

// AddSeals adds seals durably.
func (m Ops) AddSeals(more Seals) error {
	s, err := m.ReadSeals()
	if err != nil {
		return err
	}
	n := s.Count()
	for _, v := range more.Values {
		if s.value(v.Seal) < 0 {
			s.Values = append(s.Values, v)
		}
	}
	for _, x := range []struct{ to, from *[]string }{{&s.Records, &more.Records}, {&s.Files, &more.Files}} {
		*x.to = slices.Compact(slices.Sorted(slices.Values(append(*x.to, *x.from...))))
	}
	if s.Count() == n {
		return nil
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return m.Refs.WriteNote(sealsFile, append(b, '\n'))
}

// RollKey returns this device's key for [Roll].
func (m Ops) RollKey() uint64 {
	k, err := strconv.ParseUint(m.Refs.MAC("forgotten values"), 16, 64)
	if err != nil {
		panic("layers: a seal is not a number: " + err.Error())
	}
	return k%(prime-2) + 2
}

// SealValue returns the seal of a value.
func (m Ops) SealValue(v []byte) SealedValue {
	return SealedValue{len(v), Roll(v, m.RollKey()), m.Refs.MAC("value " + string(v)), true}
}

// SealRecord returns the seal of a message without a uuid.
func (m Ops) SealRecord(raw []byte) string { return m.Refs.MAC("record " + string(raw)) }

// SealFile returns the seal of an overflow file with these exact bytes.
func (m Ops) SealFile(h objects.Hash) string { return m.Refs.MAC("file " + h.String()) }

// A Guard recognises deleted text, which captures must not store again.
type Guard struct {
	M       Ops
	Purged  *state.Purges
	Seals   Seals
	Lengths []int // of Seals.Values, sorted, without duplicates
	Key     uint64
}

// count returns the number of seals of the guard.
func (g *Guard) count() int {
	if g == nil {
		return 0
	}
	return g.Seals.Count()
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
	if len(g.Lengths) > 0 {
		w.most = g.Lengths[len(g.Lengths)-1]
	}
	_, err = io.Copy(io.MultiWriter(h, w), r)
	return h.Sum(), w.Done() || slices.Contains(g.Seals.Files, g.M.SealFile(h.Sum())), err
}

// Values returns the spans of deleted values in b.
func (g *Guard) Values(b []byte) [][2]int {
	var out [][2]int
	for _, n := range g.Lengths {
		out = append(out, FindSealed(b, n, g.Key, func(h uint64) bool {
			return slices.ContainsFunc(g.Seals.Values, func(v SealedValue) bool { return v.Roll == h && v.Length == n })
		}, func(text []byte) bool {
			return g.Seals.value(g.M.SealValue(text).Seal) >= 0
		})...)
	}
	return Joined(out)
}

// whole reports whether a value of a session's transcript is to be replaced by a placeholder.
func (g *Guard) whole(session string, v transcript.Value) bool {
	id := UuidOf(v)
	if id != "" && len(g.Purged.Parts) > 0 {
		key := state.PurgeKey(id)
		if g.Purged.Ids[key] || g.Purged.Parts[key] && (g.Seals.Lost || len(g.Seals.Values) == 0) {
			return true
		}
	}
	if id == "" && g.Seals.Lost && g.Purged.Place(session, v.N) {
		return true
	}
	return len(g.Seals.Records) > 0 && slices.Contains(g.Seals.Records, g.M.SealRecord(v.Raw))
}

// UuidOf returns the uuid of a message, "" if it has none.
func UuidOf(v transcript.Value) string {
	if v.Opaque {
		return ""
	}
	msg, err := transcript.Skim(v)
	if err != nil {
		return ""
	}
	return msg.UUID
}

// A SourceFile is a session file to capture.
type SourceFile interface {
	io.ReaderAt
	io.Closer
}

// A guarded file is a file with overlays over deleted text.
type guarded struct {
	SourceFile
	over []overlay // in order
}

type overlay struct {
	at    int64
	bytes []byte
}

// Through returns a session's file of the given size without deleted text.
func (g *Guard) Through(session string, f SourceFile, size int64) (SourceFile, error) {
	out := &guarded{SourceFile: f}
	for v, err := range transcript.Whole(io.NewSectionReader(f, 0, size)) {
		if err != nil {
			return nil, err
		}
		if g.whole(session, v) {
			out.over = append(out.over, overlay{v.Off, Placeholder(int(v.Size), v.Opaque)})
			continue
		}
		spots := g.Values(v.Raw)
		if len(spots) == 0 {
			continue
		}
		raw := slices.Clone(v.Raw)
		Mask(raw, spots, g.M.MaskAsDigits(g.Seals))
		for _, s := range spots {
			out.over = append(out.over, overlay{v.Off + int64(s[0]), raw[s[0]:s[1]]})
		}
	}
	if len(out.over) == 0 {
		return f, nil
	}
	return out, nil
}

func (g *guarded) ReadAt(p []byte, off int64) (int, error) {
	n, err := g.SourceFile.ReadAt(p, off)
	i, _ := slices.BinarySearchFunc(g.over, off, func(o overlay, off int64) int {
		if o.at+int64(len(o.bytes)) <= off {
			return -1
		}
		return 1
	})
	for ; i < len(g.over) && g.over[i].at < off+int64(n); i++ {
		o := g.over[i]
		if o.at < off {
			copy(p[:n], o.bytes[off-o.at:])
		} else {
			copy(p[o.at-off:n], o.bytes)
		}
	}
	return n, err
}
