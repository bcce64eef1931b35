package sessions

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// version is the version of the cached results.
const version = 4

// Copies are messages of sessions, by the ID of the session, that another session of the project has.
//
// A fork ("/branch", "--fork-session"), and another file of one session, begin with a copy of what was there before. A
// copied message is one message: of a group of sessions, one has it, and for the others it is a copy. What reads
// several sessions together (search, a composition, a hand-over) asks [CopiesAmong] which messages those are, and leaves
// them out. What reads one session (show, compress) reads all of it.
//
// The client copies records with their uuid and time, so two records are the same message if these are equal
// ([transcript.Place]): the content may name other paths, because a resume wrote them. Records without a uuid are the same if
// their content is, too ([transcript.Identity]). Records without both, such as titles, belong to the records around them. If
// the session that has a message is deleted or not in the group, the next one has it: nothing is lost. Which one of a group has
// it is a question of use: search cites the first session, a hand-over tells the newest one from its beginning
// ([CopiesBefore]).
type Copies map[string]transcript.Spans

// A member is a session of a group.
type member struct {
	*state.Session
	typed  []transcript.Key // of all typed messages
	prints map[print]bool   // of all records; nil until needed
}

// A print identifies a record wherever it is copied to.
type print [16]byte

// CopiesAmong returns, by the ID of their session, the messages of a group of sessions of a project that an earlier session of
// the group has. Of two sessions, the earlier one is the one with fewer messages that were known when it was captured,
// or else the one that began first, or else the one that was captured first.
func CopiesAmong(ctx context.Context, db *state.DB, p refs.Project, group []*state.Session) (Copies, error) {
	known, first := map[*state.Session]int{}, map[*state.Session]time.Time{}
	for _, s := range group {
		known[s], first[s] = len(echoes(s)), s.Now().Scan.First
	}
	group = slices.SortedFunc(slices.Values(group), func(a, b *state.Session) int {
		return cmp.Or(cmp.Compare(known[a], known[b]), first[a].Compare(first[b]),
			a.Points[0].Time.Compare(b.Points[0].Time), strings.Compare(a.ID, b.ID))
	})
	return CopiesBefore(ctx, db, p, group)
}

// CopiesBefore returns, by the ID of their session, the messages of a group of sessions of a project that a session before it
// in the group has.
func CopiesBefore(ctx context.Context, db *state.DB, p refs.Project, group []*state.Session) (Copies, error) {
	if !mayShare(group) {
		return nil, nil
	}
	st, err := trust.State(ctx, db, p) // has the keys of typed messages
	if err != nil {
		return nil, err
	}
	var all []*member
	for _, s := range group {
		full := st.Session(s.ID)
		if s.Parent() != "" || full == nil {
			continue
		}
		x := &member{Session: s}
		for _, q := range full.Chain(full.Now()) {
			for _, t := range q.Typed {
				x.typed = append(x.typed, t.Key)
			}
		}
		all = append(all, x)
	}
	out := Copies{}
	having := map[transcript.Key][]*member{} // the sessions before with a typed message
	for _, x := range all {
		var from []*member
		for _, k := range x.typed {
			for _, y := range having[k] {
				if y != x && !slices.Contains(from, y) {
					from = append(from, y)
				}
			}
			having[k] = append(having[k], x)
		}
		if len(from) == 0 {
			continue
		}
		spans, err := copied(ctx, db, p, x, from)
		if errors.Is(err, objects.ErrNotFound) {
			continue // fsck reports it
		}
		if err != nil {
			return nil, err
		}
		if len(spans) > 0 {
			out[x.ID] = spans
		}
	}
	return out, nil
}

// CopiesIn is [CopiesAmong] for all sessions of a project that are shown.
func CopiesIn(ctx context.Context, db *state.DB, p refs.Project, st *state.State) (Copies, error) {
	var group []*state.Session
	for _, s := range st.Sessions {
		if s.Shown() {
			group = append(group, s)
		}
	}
	return CopiesAmong(ctx, db, p, group)
}

// mayShare reports whether sessions of a group may have messages of each other: a capture found some, or two devices
// captured them, neither of which knew what the other had.
func mayShare(group []*state.Session) bool {
	return len(group) > 1 && slices.ContainsFunc(group, func(s *state.Session) bool {
		return s.Now().Stamp.Device != group[0].Now().Stamp.Device || len(echoes(s)) > 0
	})
}

// echoes returns the typed messages of a session that others had when it was captured.
func echoes(s *state.Session) (out []int) {
	for _, q := range s.Chain(s.Now()) {
		out = append(out, q.Echo...)
	}
	return out
}

// copied returns the messages of x that one of the sessions in from has.
func copied(ctx context.Context, db *state.DB, p refs.Project, x *member, from []*member) (transcript.Spans, error) {
	slices.SortFunc(from, func(a, b *member) int { return strings.Compare(a.ID, b.ID) })
	key := objects.NewHasher()
	for _, y := range append([]*member{x}, from...) {
		key.Write([]byte(y.Now().Original.String()))
	}
	file := db.CachePath("copies", key.Sum().String())
	var out [][2]int
	if state.ReadCache(file, version, &out) {
		db.Touch(file)
		return out, nil
	}
	for _, y := range from {
		if y.prints != nil {
			continue
		}
		y.prints = map[print]bool{}
		withdrawn := y.Now().Rewound
		err := recordsOf(ctx, db, p, y, func(n int, f, place print, ok bool) {
			if ok && !withdrawn.Has(n) { // what holds here may be withdrawn there
				y.prints[f], y.prints[place] = true, true
			}
		})
		if err != nil {
			y.prints = nil
			return nil, err
		}
	}
	var spans runs
	last := 0
	err := recordsOf(ctx, db, p, x, func(n int, f, place print, ok bool) {
		last = n
		spans.add(n, ok, ok && slices.ContainsFunc(from, func(y *member) bool {
			return y.prints[f] || y.prints[place]
		}))
	})
	if err != nil {
		return nil, err
	}
	out = spans.end(last)
	db.WriteCache(file, version, &out)
	return out, nil
}

// recordsOf calls f with the print of each record of a session and that of its place, and whether it has one.
func recordsOf(ctx context.Context, db *state.DB, p refs.Project, x *member, f func(n int, id, place print, ok bool)) error {
	return originals.Stream(ctx, db, p, x.Now().Original, func(r io.Reader) error {
		for v, err := range transcript.Stream(r, originals.HugeValue) {
			if err != nil {
				return err
			}
			id, ok := printOf(transcript.Identity(v))
			place, placed := printOf(transcript.Place(v))
			if !placed {
				place = id
			}
			f(v.N, id, place, ok)
		}
		return nil
	})
}

// printOf returns the print of an identity, if there is one.
func printOf(id []byte) (out print, ok bool) {
	sum := objects.Sum(id)
	copy(out[:], sum[:])
	return out, id != nil
}

// runs collects runs of copied messages. Messages without a print between two copied ones are copied, and so are those
// before the first and after the last.
type runs struct {
	done transcript.Spans
	in   bool // the last message with a print was copied
	any  bool // there was one with a print
}

func (r *runs) add(n int, known, copied bool) {
	switch {
	case !known:
		return
	case !copied:
		r.in = false
	case r.in:
		r.done[len(r.done)-1][1] = n
	case !r.any:
		r.done = append(r.done, [2]int{1, n})
		r.in = true
	default:
		r.done = append(r.done, [2]int{n, n})
		r.in = true
	}
	r.any = true
}

// end returns the runs of a session whose last message is n.
func (r *runs) end(n int) transcript.Spans {
	if r.in {
		r.done[len(r.done)-1][1] = n
	}
	return r.done
}

// CopiedPrefix returns the last message up to which all are copies, 0 if there is none.
func CopiedPrefix(spans transcript.Spans) int {
	if len(spans) > 0 && spans[0][0] == 1 {
		return spans[0][1]
	}
	return 0
}
