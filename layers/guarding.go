package layers

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
)

// What was forgotten is still in the files of Claude Code for a while. A capture sees them through a guard, which puts a
// placeholder of the same length over every forgotten message and blots out every forgotten value. So what is stored is a
// beginning of what the capture sees, and a session goes on growing.

// sealsFile holds what only this device knows of what it forgot. It names nothing: everything is keyed by the device's key.
const sealsFile = "forgotten.json"

type seals struct {
	Values  []sealedValue `json:"values,omitempty"`
	Records []string      `json:"records,omitempty"` // messages without a uuid
	Files   []string      `json:"files,omitempty"`   // overflow files
}

// readSeals returns what was forgotten here. Without it forgotten text would be taken in again, so a damaged file is an error and not an
// empty one.
func (m *Memory) readSeals() (s seals, err error) {
	_, err = m.repo.ReadNote(sealsFile, &s)
	return s, err
}

// count is how many there are. None is ever taken back.
func (s *seals) count() int { return len(s.Values) + len(s.Records) + len(s.Files) }

// value returns which value has a seal, -1 if none.
func (s *seals) value(seal string) int {
	return slices.IndexFunc(s.Values, func(v sealedValue) bool { return v.Seal == seal })
}

// nines tells of a value whether its digits became nines in strings too when it was forgotten.
func (m *Memory) nines(s seals) func(spot []byte) bool {
	return func(spot []byte) bool {
		i := s.value(m.sealValue(spot).Seal)
		return i >= 0 && !s.Values[i].Stars
	}
}

// addSeals remembers what is being forgotten. It is durable when it returns.
func (m *Memory) addSeals(more seals) error {
	s, err := m.readSeals()
	if err != nil {
		return err
	}
	n := s.count()
	for _, v := range more.Values {
		if s.value(v.Seal) < 0 {
			s.Values = append(s.Values, v)
		}
	}
	for _, x := range []struct{ to, from *[]string }{{&s.Records, &more.Records}, {&s.Files, &more.Files}} {
		*x.to = slices.Compact(slices.Sorted(slices.Values(append(*x.to, *x.from...))))
	}
	if s.count() == n {
		return nil
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return m.repo.WriteNote(sealsFile, append(b, '\n'))
}

func (m *Memory) rollKey() uint64 {
	k, err := strconv.ParseUint(m.repo.Seal("forgotten values"), 16, 64)
	if err != nil {
		panic("layers: a seal is no number: " + err.Error())
	}
	return k%(prime-2) + 2
}

func (m *Memory) sealValue(v []byte) sealedValue {
	return sealedValue{len(v), roll(v, m.rollKey()), m.repo.Seal("value " + string(v)), true}
}

func (m *Memory) sealRecord(raw []byte) string   { return m.repo.Seal("record " + string(raw)) }
func (m *Memory) sealFile(h objects.Hash) string { return m.repo.Seal("file " + h.String()) }

// A guard says what must not be taken in again.
type guard struct {
	m       *Memory
	purged  *purges
	seals   seals
	lengths []int
	key     uint64
}

// guardOf returns the guard of a project, nil if nothing was ever forgotten.
func (m *Memory) guardOf(st *State) (*guard, error) {
	s, err := m.readSeals()
	if err != nil {
		return nil, err
	}
	if s.count()+len(st.purged.ids) == 0 {
		return nil, nil
	}
	g := &guard{m: m, purged: st.purged, seals: s, key: m.rollKey()}
	for _, v := range s.Values {
		g.lengths = append(g.lengths, v.Length)
	}
	slices.Sort(g.lengths)
	g.lengths = slices.Compact(g.lengths)
	return g, nil
}

// count is how many seals the guard knows.
func (g *guard) count() int {
	if g == nil {
		return 0
	}
	return g.seals.count()
}

// file returns the name of an overflow file, and reports whether it was forgotten or holds a value that was.
func (g *guard) file(r io.Reader) (sum objects.Hash, forgot bool, err error) {
	h := objects.NewHasher()
	if g == nil {
		_, err = io.Copy(h, r)
		return h.Sum(), false, err
	}
	w := &windows{look: func(b []byte) bool { return len(g.values(b)) > 0 }}
	if len(g.lengths) > 0 {
		w.most = g.lengths[len(g.lengths)-1]
	}
	_, err = io.Copy(io.MultiWriter(h, w), r)
	return h.Sum(), w.done() || slices.Contains(g.seals.Files, g.m.sealFile(h.Sum())), err
}

// values returns where forgotten values stand in b.
func (g *guard) values(b []byte) [][2]int {
	var out [][2]int
	for _, n := range g.lengths {
		out = append(out, findSealed(b, n, g.key, func(h uint64) bool {
			return slices.ContainsFunc(g.seals.Values, func(v sealedValue) bool { return v.Roll == h && v.Length == n })
		}, func(text []byte) bool {
			return g.seals.value(g.m.sealValue(text).Seal) >= 0
		})...)
	}
	return joined(out)
}

// whole reports whether a value of a transcript was forgotten, all of it.
func (g *guard) whole(v transcript.Value) bool {
	if id := uuidOf(v); id != "" && len(g.purged.ids) > 0 {
		key := purgeKey(id)
		if g.purged.ids[key] || g.purged.parts[key] && len(g.seals.Values) == 0 {
			return true
		}
	}
	return len(g.seals.Records) > 0 && slices.Contains(g.seals.Records, g.m.sealRecord(v.Raw))
}

func uuidOf(v transcript.Value) string {
	if v.Opaque {
		return ""
	}
	msg, err := transcript.Skim(v)
	if err != nil {
		return ""
	}
	return msg.UUID
}

// A sourceFile is a session file that is captured.
type sourceFile interface {
	io.ReaderAt
	io.Closer
}

// A guarded file is read with other bytes where something was forgotten.
type guarded struct {
	sourceFile
	over []overlay // in order
}

type overlay struct {
	at    int64
	bytes []byte
}

// through returns a file of the given size as it may be taken in.
func (g *guard) through(f sourceFile, size int64) (sourceFile, error) {
	out := &guarded{sourceFile: f}
	for v, err := range transcript.Whole(io.NewSectionReader(f, 0, size)) {
		if err != nil {
			return nil, err
		}
		if g.whole(v) {
			out.over = append(out.over, overlay{v.Off, placeholder(int(v.Size), v.Opaque)})
			continue
		}
		spots := g.values(v.Raw)
		if len(spots) == 0 {
			continue
		}
		raw := slices.Clone(v.Raw)
		blot(raw, spots, g.m.nines(g.seals))
		for _, s := range spots {
			out.over = append(out.over, overlay{v.Off + int64(s[0]), raw[s[0]:s[1]]})
		}
	}
	if len(out.over) == 0 {
		return f, nil
	}
	return out, nil
}

// ReadAt reads what may be taken in.
func (g *guarded) ReadAt(p []byte, off int64) (int, error) {
	n, err := g.sourceFile.ReadAt(p, off)
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
