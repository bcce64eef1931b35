package handover

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// digestVersion is the version of the file of digests in the cache. A file of another version is rebuilt.
const digestVersion = 12<<8 | Version

// Digests are made on demand and cached, one file for each project. The newest sessions of a project have digests, and
// those older ones with the heaviest markers, because pinned text does not expire.
const (
	maxDigests = 200
	maxPinned  = 50
)

// digested returns the sessions that get digests. Sessions are sorted, the newest first.
func digested(sessions []*state.Session) []*state.Session {
	if len(sessions) <= maxDigests {
		return sessions
	}
	heaviest := func(s *state.Session) (w keepit.Weight) {
		for _, k := range s.Markers() {
			w = max(w, k.Weight)
		}
		return w
	}
	var pinned []*state.Session
	for _, s := range sessions[maxDigests:] {
		if s.Marked() > 0 {
			pinned = append(pinned, s)
		}
	}
	if len(pinned) > maxPinned {
		byWeight := slices.Clone(pinned)
		slices.SortStableFunc(byWeight, func(a, b *state.Session) int { return cmp.Compare(heaviest(b), heaviest(a)) })
		pinned = slices.DeleteFunc(pinned, func(s *state.Session) bool { return !slices.Contains(byWeight[:maxPinned], s) })
	}
	return slices.Concat(sessions[:maxDigests], pinned)
}

// A digestFile has the digests of a project.
type digestFile struct {
	Group objects.Hash // of the sessions that List was made from; see [groupOf]
	List  []storedDigest
	Words []posting // of the turns of List, sorted by word
}

// A storedDigest is the digest of a session at a growth point with a number of added markers.
type storedDigest struct {
	Original objects.Hash
	Added    int
	Digest
}

// addedMarkers returns the message of each marker that "mem keepit add" added.
func addedMarkers(s *state.Session) (out []int) {
	for _, o := range s.Overrides {
		if o.Added && o.Generation == s.Now().Generation {
			out = append(out, o.Message)
		}
	}
	return out
}

// digests returns the digests of sessions in their order: of messages that several have, the first one tells. It makes the missing ones until late reports true; left is
// the number of those that are then outdated or missing. An outdated digest is returned, too.
func digests(ctx context.Context, db *state.DB, st *state.State, group []*state.Session, late func() bool) (out []Digest,
	left int, err error) {
	p := st.Project
	file := db.CachePath("digests", string(p))
	kept := readDigests(file)
	at := make(map[string]int, len(kept.List))
	for i := range kept.List {
		at[kept.List[i].Session] = i
	}
	next := digestFile{Group: groupOf(group)}
	changed := false
	same := sessions.Copies{}
	if next.Group == kept.Group {
		for _, d := range kept.List {
			same[d.Session] = d.Copies
		}
	} else if same, err = sessions.CopiesBefore(ctx, db, p, group); err != nil {
		return nil, 0, err
	} else {
		changed = true
	}
	for _, s := range digested(group) {
		now := s.Now()
		i, known := at[s.ID]
		added := len(addedMarkers(s))
		switch {
		case known && kept.List[i].Original == now.Original && kept.List[i].Added == added &&
			slices.Equal(kept.List[i].Copies, same[s.ID]):
			next.List = append(next.List, kept.List[i])
			continue
		case late != nil && late():
			left++
			if known {
				next.List = append(next.List, kept.List[i])
			}
			continue
		}
		d, err := digest(ctx, db, st, s, same[s.ID])
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if err != nil {
			continue // its bytes are missing or damaged: fsck reports it
		}
		d.Copies = same[s.ID]
		next.List, changed = append(next.List, storedDigest{now.Original, added, d}), true
	}
	if changed {
		next.Words = post(next.List)
		db.WriteCache(file, digestVersion, &next)
	}
	for _, d := range next.List {
		out = append(out, d.Digest)
	}
	return out, left, nil
}

// MakeDigests makes the missing digests of a project and brings its search index up to date, to save time at the next
// start and prompt.
func MakeDigests(ctx context.Context, db *state.DB, p state.Project) error {
	b := &briefing{m: db}
	var err error
	if b.st, err = trust.Outline(ctx, db, p.ID); err != nil {
		return err
	}
	b.sessions = b.recent()
	if _, _, err = digests(ctx, db, b.st, b.sessions, func() bool { return ctx.Err() != nil }); err != nil {
		return err
	}
	for _, s := range b.sessions {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		_ = makeMarks(ctx, db, p.ID, s) // its bytes are missing or damaged: fsck reports it
	}
	s, err := search.NewSearcher(ctx, db, []refs.Project{p.ID}) // for prompts, which do not wait for the index
	if err == nil {
		s.Close()
	}
	return err
}

// readDigests returns the digests in the cache.
func readDigests(file string) (f digestFile) {
	if !state.ReadCache(file, digestVersion, &f) {
		return digestFile{}
	}
	return f
}

// groupOf returns a hash of sessions at their growth points.
func groupOf(sessions []*state.Session) objects.Hash {
	h := objects.NewHasher()
	for _, s := range sessions {
		h.Write([]byte(s.ID + " " + s.Now().Original.String() + "\n"))
	}
	return h.Sum()
}

// withoutCopies leaves out the entries of some messages, but not those with added markers.
func withoutCopies(entries iter.Seq2[refine.Entry, error], same transcript.Spans, added []int) iter.Seq2[refine.Entry, error] {
	return func(yield func(refine.Entry, error) bool) {
		for e, err := range entries {
			if err == nil && same.Has(e.N) && !slices.Contains(added, e.N) {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// digest makes the current digest of a session, without the messages in same.
func digest(ctx context.Context, db *state.DB, st *state.State, s *state.Session, same transcript.Spans) (Digest, error) {
	now := s.Now()
	l1, err := originals.L1(ctx, db, st.Project, now.Original, refine.Full)
	if err != nil {
		return Digest{}, err
	}
	defer l1.Close()
	d, err := Summarize(withoutCopies(refine.Entries(l1), same, addedMarkers(s)), addedMarkers(s), st.Purged.Gone(s))
	d.Session, d.Fork, d.Last = s.ID, s.ForkOf(), now.Ended()
	d.Dir, d.Branch = now.Scan.Cwd, now.Scan.Branch
	if err != nil {
		return d, err
	}
	err = originals.Stream(ctx, db, st.Project, now.Original, d.cutCopies)
	return d, err
}

// cutCopies removes from the answers and todos of d what a tool of the session printed first. r is the session.
func (d *Digest) cutCopies(r io.Reader) error {
	var texts []*string
	for i := range d.Turns {
		texts = append(texts, &d.Turns[i].Answered.Text, &d.Turns[i].Asks, &d.Turns[i].To)
		for k := range d.Turns[i].Then {
			texts = append(texts, &d.Turns[i].Then[k].To)
		}
	}
	for i := range d.Open {
		texts = append(texts, &d.Open[i].Text)
	}
	for i := range d.Wants {
		texts = append(texts, &d.Wants[i].To)
	}
	var list []string
	for _, t := range texts {
		list = append(list, *t)
	}
	passages := passagesOf(list)
	if err := passages.Read(r); err != nil {
		return err
	}
	for i, t := range texts {
		*t = joinGaps(passages.Cut(i))
	}
	d.Open = slices.DeleteFunc(d.Open, func(o Open) bool { return o.What == exchange.Todo && withoutHosts(o.Text) == "" })
	return nil
}

// leastPiece is the number of words between two gaps below which they say nothing.
const leastPiece = 4

// announced matches a sentence that announces what is gone.
var announced = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^•◦].*: …\W*$`) })

// joinGaps makes one gap of two with nothing to read between them, in each line, and removes what announces what is gone
// unless that is all there is.
func joinGaps(text string) string {
	var all, kept []string
	for line := range strings.SplitSeq(text, "\n") {
		pieces := strings.Split(line, missing)
		out := pieces[:1]
		for k, p := range pieces[1:] {
			if k == len(pieces)-2 || len(strings.Fields(p)) >= leastPiece {
				out = append(out, p)
			}
		}
		line = strings.Join(out, missing)
		if all = append(all, line); !announced().MatchString(line) {
			kept = append(kept, line)
		}
	}
	if !strings.ContainsFunc(strings.Join(kept, ""), unicode.IsLetter) {
		kept = all
	}
	return strings.Trim(strings.Join(kept, "\n"), "\n")
}

// withoutHosts returns the text of a todo without URLs and words that are joined to a sentence: one that no tool of the
// session printed may come from a file that the client attached.
func withoutHosts(text string) string {
	list := strings.Fields(text)
	left := len(list)
	for i, w := range list {
		if brief.IsHost(w) || brief.IsJoined(w) {
			list[i] = "…"
			left--
		}
	}
	if left == 0 {
		return ""
	}
	return strings.Join(list, " ")
}

// digest sets the digests of the sessions. It returns how many are missing.
func (b *briefing) digest(ctx context.Context, p state.Project) (left int, err error) {
	b.digests, left, err = digests(ctx, b.m, b.st, b.sessions, b.o.Late)
	dir := b.o.Dir
	if dir == "" && len(b.digests) > 0 {
		dir = b.digests[0].Dir // all names are relative to one directory
	}
	for i, d := range b.digests {
		b.digests[i] = d.Rebase(dir)
	}
	if b.known != nil { // a subagent is told no facts
		settle(b.digests, toldOf(b.known))
	}
	return left, err
}

// pinItems lists the markers that survive at the distance of their sessions, the heaviest first.
func (b *briefing) pinItems() (out []brief.Item) {
	type pin struct {
		weight keepit.Weight
		item   brief.Item
	}
	var pins []pin
	distances := b.st.Distances()
	for _, d := range b.digests {
		s := b.st.Session(d.Session)
		if s == nil || len(d.Marked) == 0 {
			continue
		}
		for _, k := range s.Keepits(markedInput(d), s.Now()) {
			if k.Removed || !PinPressure(distances[s.ID], b.o.Decay).Keeps(k.Mark.Weight) {
				continue
			}
			pins = append(pins, pin{k.Mark.Weight, brief.Item{Text: k.Mark.Text,
				Source: fmt.Sprintf("%s#%d, %s", records.ShortID(s.ID), k.Mark.Message, k.Mark.Weight), Trust: brief.User,
				Verbatim: true, Time: d.Last, Why: "pinned text (" + k.ID + "), with a weight that is high enough for the age of its session"}})
		}
	}
	slices.SortStableFunc(pins, func(a, b pin) int { return int(b.weight) - int(a.weight) })
	for _, p := range pins {
		out = append(out, p.item)
	}
	return out
}

// markedInput returns the messages of a digest with markers as input of an engine.
func markedInput(d Digest) (in compress.Input) {
	for _, m := range d.Marked {
		in.Items = append(in.Items, version.Item{N: m.N, Kind: version.User, Text: m.Text})
	}
	return in
}
