package knowledge

import (
	"context"
	"io"
	"slices"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// Undistilled is the part of a session that was not distilled.
type Undistilled struct {
	From, To int // messages
	Tokens   int // estimate for the L1 of these messages
	Total    int // estimate for the whole L1
}

// An l1Length contains the estimated length of a growing session's L1 at some messages. It is cached and updated from
// the tail of the file, so that a hook does not read the whole file.
type l1Length struct {
	Format     int    `json:"format"`
	Path       string `json:"path"`
	Generation int    `json:"generation"`
	Raw        int64  `json:"raw"` // bytes of the file
	Marks      []mark `json:"marks"`
}

// A mark is the length of L1 in bytes at a message.
type mark struct {
	N  int   `json:"n"`
	L1 int64 `json:"l1"`
}

// Undistilled returns the undistilled part of a session as it was captured last. It reads only what was added since the
// last call.
func (m Ops) Undistilled(ctx context.Context, p refs.Project, id string) (Undistilled, error) {
	st, err := trust.On(m.DB).Outline(ctx, p)
	if err != nil {
		return Undistilled{}, err
	}
	s := st.Session(id)
	if s == nil {
		return Undistilled{}, nil
	}
	known, err := revision.On(m.DB).Facts(ctx, p)
	if err != nil {
		return Undistilled{}, err
	}
	now := s.Now()
	g := m.updateL1Length(s, now)
	last := g.Marks[len(g.Marks)-1]
	u := Undistilled{From: known.ThroughOf(id, now.Generation) + 1, To: now.Scan.Values}
	counter := markers.On(m.DB).Counter(now)
	u.Total = counter.Estimate(last.L1)
	if u.From <= u.To {
		u.Tokens = counter.Estimate(last.L1 - g.at(u.From-1))
	}
	if read := now.Scan.Read; read > 0 { // L1 adds envelopes to the text
		u.Total = min(u.Total, counter.Estimate(read))
		u.Tokens = min(u.Tokens, u.Total)
	}
	return u, nil
}

// updateL1Length returns the current length of a session's L1.
func (m Ops) updateL1Length(s *state.Session, now *records.Point) l1Length {
	file := m.CachePath("growing", records.ShortID(s.ID)+"-"+now.Stamp.Device[:8]+".json")
	var g l1Length
	if !state.ReadCache(file, &g) || g.Format != records.GrowingVersion || g.Path != s.Source() ||
		g.Generation != now.Generation || len(g.Marks) == 0 {
		g = l1Length{Format: records.GrowingVersion, Path: s.Source(), Generation: now.Generation,
			Marks: []mark{{0, 0}}}
	}
	last := g.Marks[len(g.Marks)-1]
	if now.Scan.Values <= last.N {
		return g
	}
	added, raw := refinedTail(g.Path, g.Raw)
	if raw == 0 { // the file is gone
		added = now.Size/records.L1Share - last.L1
	} else {
		g.Raw = raw
	}
	g.Marks = append(g.Marks, mark{now.Scan.Values, last.L1 + max(added, 1)})
	if len(g.Marks) > records.MaxMarks {
		g.Marks = slices.Delete(g.Marks, 1, 2)
	}
	m.WriteCache(file, g)
	return g
}

// at returns the length of L1 at message n, interpolated between two marks.
func (g l1Length) at(n int) int64 {
	i := slices.IndexFunc(g.Marks, func(k mark) bool { return k.N >= n })
	switch {
	case i < 0:
		return g.Marks[len(g.Marks)-1].L1
	case i == 0 || g.Marks[i].N == n:
		return g.Marks[i].L1
	}
	a, b := g.Marks[i-1], g.Marks[i]
	return a.L1 + (b.L1-a.L1)*int64(n-a.N)/int64(b.N-a.N)
}

// refinedTail returns the length of a file's L1 from an offset on, and the size of the file. After a long gap, only the
// end of the file is read and the rest is estimated.
func refinedTail(path string, from int64) (l1, end int64) {
	f, size, err := capture.OpenSource(path)
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	if size < from {
		from = 0 // another file
	}
	if skipped := size - records.FirstLook - from; skipped > 0 {
		l1, from = skipped/records.L1Share, from+skipped
	}
	stats, err := refine.Stream(io.NewSectionReader(f, from, size-from), refine.Full, nil, nil, io.Discard)
	if err != nil {
		return l1 + (size-from)/records.L1Share, size
	}
	return l1 + stats.Out, size
}
