package forget

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
)

// ForgetOptions say what is to be forgotten: one of Revs, Match, Secret, Tool and Since.
type ForgetOptions struct {
	Projects []state.Project // where; revisions bring their own
	Revs     []state.Rev     // sessions, versions, compositions, messages
	Match    *regexp.Regexp
	Secret   []byte
	Tool     string    // the results of a tool
	Since    time.Time // messages from then on,
	Until    time.Time // and before then, unless it is zero
	DryRun   bool
}

func (o ForgetOptions) cause() string {
	switch {
	case o.Match != nil:
		return "match"
	case o.Secret != nil:
		return "secret"
	case o.Tool != "":
		return "tool"
	case !o.Since.IsZero() || !o.Until.IsZero():
		return "since"
	}
	return "revision"
}

// A ForgottenThing is something that is forgotten, or was made of what is.
type ForgottenThing struct {
	Project string
	// session, messages, version, composition, exchange, fact, concept, rule, use, file, damaged file, record
	Kind    string
	Name    string
	Count   int    // of messages and records; 1 for a thing with a name
	Device  string // whose lane holds it, "" for this one's: it goes when that device syncs
	Rebuilt bool   // it is made again of what is left
	Lacks   string // ids of sessions that it is made again without, since only another device has them until it syncs
	Why     string // it is not
}

// A Forgotten is what became of a forgetting.
type Forgotten struct {
	Things   []ForgottenThing
	Files    []string // of Claude Code that still hold it
	Finished bool     // one that was interrupted before was brought to its end first
	Proof    Proof    // of no dry run
	Remotes  []string // that may hold it until the next push
}

// ErrNothingToForget says that nothing is there to be forgotten.
var ErrNothingToForget = errors.New("there is nothing to forget")

// A NoToolError says that no tool of a name was used. It wraps [ErrNothingToForget].
type NoToolError struct {
	Tool  string
	Tools []string // that were, in the order of their names
}

func (e *NoToolError) Error() string {
	return fmt.Sprintf("no tool is called '%s': %v", e.Tool, ErrNothingToForget)
}
func (e *NoToolError) Unwrap() error { return ErrNothingToForget }

// ErrNotForgettable says that a revision names nothing that can be forgotten by itself.
var ErrNotForgettable = errors.New("only sessions, messages, versions and compositions can be forgotten")

// A forgetting is what a project is to forget, and what becomes of its records.
type forgetting struct {
	m  Ops
	o  ForgetOptions
	p  state.Project
	st *state.State

	records  []refs.Record   // of all lanes
	sessions map[string]bool // as a whole
	direct   map[objects.Hash]bool
	ranges   map[string][][3]int // of a session: generation, from, to
	needles  [][]byte
	tools    map[string]bool // that were used, if it is one of them that goes

	heeding *state.Purges         // of other devices, if it is for them
	answers []records.Purge       // of them that this device has not answered yet
	answer  bool                  // it has to, although nothing of its lane may change
	until   map[string]uint64     // of a session: what was said of it before speaks of what is forgotten
	missing map[objects.Hash]bool // records that name a transcript that is not there any more
	stale   map[objects.Hash]bool // records that name one of which others will leave something out

	held    *refs.Writer // of the project, if others wait while it is planned
	Stage   *refs.Stage
	streams map[objects.Hash]bool            // that go, or are made anew
	points  map[objects.Hash]bool            // growth points of them
	regrown map[objects.Hash]capture.Regrown // by record
	passed  map[string]map[int]map[int]bool  // session, generation, message
	heard   map[objects.Hash]bool            // records about what a model was shown of it
	drop    map[objects.Hash]bool            // records
	gone    map[string]bool                  // names of what is not there any more
	names   map[string]string                // of what is called otherwise now
	bodies  map[objects.Hash]json.RawMessage // of records that change
	patches map[objects.Hash][]byte          // of records that stay
	purge   records.Purge
	Seals   originals.Seals
	nines   func(spot []byte) bool // see [blot]
	files   []string
	things  []ForgottenThing
	redo    []rebuild
}

func (m Ops) NewForgetting(ctx context.Context, p state.Project, o ForgetOptions,
	heeding *state.Purges) (*forgetting, error) {
	f := &forgetting{m: m, o: o, p: p, sessions: map[string]bool{}, direct: map[objects.Hash]bool{},
		ranges:  map[string][][3]int{},
		streams: map[objects.Hash]bool{}, points: map[objects.Hash]bool{}, regrown: map[objects.Hash]capture.Regrown{},
		passed: map[string]map[int]map[int]bool{},
		tools:  map[string]bool{}, heard: map[objects.Hash]bool{}, drop: map[objects.Hash]bool{}, gone: map[string]bool{},
		names: map[string]string{}, bodies: map[objects.Hash]json.RawMessage{}, patches: map[objects.Hash][]byte{},
		heeding: heeding, until: map[string]uint64{}, missing: map[objects.Hash]bool{}, stale: map[objects.Hash]bool{}}
	f.purge.Cause = o.cause()
	known, err := originals.On(m.DB).ReadSeals()
	if err != nil {
		return nil, err
	}
	f.nines = originals.On(m.DB).Nines(known)
	err = m.Refs.View(ctx, p.ID, func(tx *refs.Tx) (err error) {
		if f.records, err = tx.Records(ctx, nil); err != nil {
			return err
		}
		if heeding != nil {
			f.st, err = unfiltered(p.ID, f.records, tx.Tips(), m.Refs.Device().ID)
		} else {
			f.st, err = m.Fold(ctx, tx, p.ID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	f.Stage, err = m.Refs.Stage(ctx)
	return f, err
}

func (f *forgetting) own(device string) bool { return device == f.m.Refs.Device().ID }

// choose takes up what the options name.
func (f *forgetting) choose(ctx context.Context) error {
	if f.o.Secret != nil {
		f.needles = markers.Spellings(f.o.Secret)
		for _, n := range f.needles {
			f.Seals.Values = append(f.Seals.Values, originals.On(f.m.DB).SealValue(n))
		}
	}
	for _, rev := range f.o.Revs {
		if rev.Project.ID != f.p.ID {
			continue
		}
		switch rev.Kind {
		case state.IsSession, state.IsOriginal:
			f.sessions[rev.Session.ID] = true
		case state.IsVersion:
			f.direct[rev.Version.ID] = true
		case state.IsComposition:
			for _, c := range f.st.Stored.Compositions {
				if c.Body.Name == rev.Composition.Name {
					f.direct[c.Stamp.Record] = true
				}
			}
		case state.IsMessages:
			f.ranges[rev.Session.ID] = append(f.ranges[rev.Session.ID], [3]int{rev.Session.Now().Generation, rev.From, rev.To})
		default:
			return fmt.Errorf("%s: %w", rev.Name(), ErrNotForgettable)
		}
	}
	for again := true; again; { // what subagents of a session wrote goes with it
		again = false
		for _, s := range f.st.Sessions {
			if !f.sessions[s.ID] && s.Parent() != "" && f.sessions[s.Parent()] {
				f.sessions[s.ID], again = true, true
			}
		}
	}
	return ctx.Err()
}

// Plan finds out what the project is to forget and what becomes of everything that was made of it. It writes
// nothing but to the stage.
func (f *forgetting) Plan(ctx context.Context) error {
	choose := f.choose
	if f.heeding != nil {
		choose = f.obey
	}
	if err := choose(ctx); err != nil {
		return err
	}
	for _, s := range f.st.Sessions {
		if err := f.session(ctx, s); err != nil {
			return fmt.Errorf("session %s: %w", records.ShortID(s.ID), err)
		}
	}
	for id := range f.sessions {
		f.purge.Sessions = append(f.purge.Sessions, state.PurgeKey(id))
	}
	slices.Sort(f.purge.Sessions)
	if err := f.listen(ctx); err != nil {
		return err
	}
	for _, r := range f.records {
		if f.direct[r.ID] {
			f.purge.Records = append(f.purge.Records, state.RecordName(state.StampOf(r)))
		}
	}
	if err := f.settle(); err != nil {
		return err
	}
	f.labels()
	return f.describe()
}

// session finds out what goes of one session.
func (f *forgetting) session(ctx context.Context, s *state.Session) error {
	if f.sessions[s.ID] {
		f.whole(s)
		return nil
	}
	if f.o.Match == nil && f.needles == nil && f.o.Tool == "" && f.o.cause() != "since" && f.ranges[s.ID] == nil &&
		(f.heeding == nil || !f.concerned(s)) {
		return nil
	}
	names := map[string]bool{} // overflow files that forgotten messages name
	err := capture.On(f.m.DB).OwnStreams(ctx, f.p.ID, s, f.nines, func(o *capture.OwnStream) error {
		return f.stream(ctx, s, o, names)
	})
	if err != nil || f.heeding != nil {
		return err
	}
	return f.otherStreams(ctx, s)
}

// concerned reports whether a purge that is heeded speaks of messages of a session.
func (f *forgetting) concerned(s *state.Session) bool {
	return slices.ContainsFunc(f.heeding.Passages[state.PurgeKey(s.ID)], func(i int) bool {
		return !f.acked(f.heeding.All[i])
	})
}

// acked reports whether this device has answered a purge: what it captured or made since then may stay.
func (f *forgetting) acked(q state.StoredPurge) bool {
	return f.heeding.Acked[f.m.Refs.Device().ID+q.Sum.String()]
}

// whole lets all of a session go.
func (f *forgetting) whole(s *state.Session) {
	for _, p := range s.Points {
		if f.own(p.Stamp.Device) {
			f.streams[stream.Name(s.ID, p.Generation)] = true
			f.points[p.Original] = true
		}
		for _, file := range p.Files {
			f.gone[file.Hash.String()] = true
		}
		f.gone[p.Original.String()] = true
	}
	if src := s.Source(); src != "" && f.own(s.Now().Stamp.Device) {
		f.files = append(f.files, src)
	}
}

// chosen returns what tells which values of a stream are to go: all of each, or the places that hold something.
func (f *forgetting) chosen(s *state.Session, generation int,
	values func(func(transcript.Value)) error) (func(v transcript.Value) (whole bool, spots [][2]int), error) {
	calls := map[string]bool{}
	if f.o.Tool != "" {
		err := values(func(v transcript.Value) {
			if msg, err := transcript.Decode(v); err == nil {
				for _, b := range msg.Blocks {
					if b.Kind != transcript.ToolUse || b.ToolID == "" {
						continue
					}
					if f.tools[b.Name] = true; b.Name == f.o.Tool {
						calls[b.ToolID] = true
					}
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	var last time.Time
	return func(v transcript.Value) (bool, [][2]int) {
		if IsForgotten(v.Raw) {
			return false, nil
		}
		msg, err := transcript.Decode(v)
		known := err == nil
		if known && !msg.Time.IsZero() {
			last = msg.Time
		}
		switch {
		case f.heeding != nil:
			return f.heeds(s, generation, v), nil
		case f.needles != nil:
			return false, originals.PlacesOf(v.Raw, f.needles)
		case f.o.Match != nil:
			return f.matches(v.Raw) || known && slices.ContainsFunc(slices.Collect(transcript.Read(msg)), f.o.Match.MatchString),
				nil
		case f.o.Tool != "":
			return known && msg.Type != "assistant" && namesOne(v.Raw, calls), nil
		case f.o.cause() == "since":
			return !last.IsZero() && !last.Before(f.o.Since) && (f.o.Until.IsZero() || last.Before(f.o.Until)), nil
		}
		return slices.ContainsFunc(f.ranges[s.ID], func(r [3]int) bool {
			return r[0] == generation && r[1] <= v.N && v.N <= r[2]
		}), nil
	}, nil
}

func (f *forgetting) matches(b []byte) bool { return f.o.Match != nil && f.o.Match.Match(b) }

// namesOne reports whether a record names one of some calls of tools.
func namesOne(raw []byte, calls map[string]bool) bool {
	for id := range calls {
		if bytes.Contains(raw, []byte(`"`+id+`"`)) {
			return true
		}
	}
	return false
}

// heeds reports whether another device has forgotten a message that this one captured too.
func (f *forgetting) heeds(s *state.Session, generation int, v transcript.Value) bool {
	id := originals.UuidOf(v)
	key := state.PurgeKey(id)
	for _, i := range f.heeding.Passages[state.PurgeKey(s.ID)] {
		if f.acked(f.heeding.All[i]) {
			continue
		}
		for _, p := range f.heeding.All[i].Body.Passages {
			if p.Session != state.PurgeKey(s.ID) {
				continue
			}
			if p.ID != "" && p.ID == key || p.ID == "" && id == "" && p.Generation == generation && p.N == v.N {
				return true
			}
		}
	}
	return false
}

// IsForgotten reports whether a record is a placeholder.
func IsForgotten(raw []byte) bool {
	return bytes.Equal(raw, originals.Placeholder(len(raw), raw[0] != '{'))
}

// pass notes that a message goes.
func (f *forgetting) pass(s *state.Session, generation int, v transcript.Value, part bool) {
	if f.passed[s.ID] == nil {
		f.passed[s.ID] = map[int]map[int]bool{}
	}
	if f.passed[s.ID][generation] == nil {
		f.passed[s.ID][generation] = map[int]bool{}
	}
	if f.passed[s.ID][generation][v.N] && f.heeding == nil {
		return
	}
	f.passed[s.ID][generation][v.N] = true
	x := records.Passage{Session: state.PurgeKey(s.ID), Generation: generation, N: v.N, Part: part}
	if id := originals.UuidOf(v); id != "" {
		x.ID = state.PurgeKey(id)
	}
	f.purge.Passages = append(f.purge.Passages, x)
}

// labels notes which numbers of versions must not be used again.
func (f *forgetting) labels() {
	last := map[string]int{}
	for _, v := range f.st.Versions {
		var n int
		if _, err := fmt.Sscanf(v.Label, "v%d", &n); err == nil && f.own(v.Device) && f.drop[v.ID] && !f.sessions[v.Session] {
			last[v.Session] = max(last[v.Session], n)
		}
	}
	for s, n := range last {
		f.purge.Labels = append(f.purge.Labels, records.LabelMark{Session: state.PurgeKey(s),
			Device: f.m.Refs.Device().ID, Last: n})
	}
	slices.SortFunc(f.purge.Labels, func(a, b records.LabelMark) int { return cmp.Compare(a.Session, b.Session) })
}

// changes reports whether this device's lane has something to forget.
func (f *forgetting) changes() bool {
	for _, r := range f.records {
		if _, anew := f.bodies[r.ID]; f.own(r.Device) && (f.drop[r.ID] || anew) {
			return true
		}
	}
	return len(f.regrown)+len(f.patches) > 0
}

// found reports whether there is anything to forget anywhere.
func (f *forgetting) found() bool { return f.changes() || len(f.things) > 0 }

// Apply commits what was planned: as a lane that begins anew, or as one more record if only lanes of others have to.
func (f *forgetting) Apply(ctx context.Context) error {
	write := func(old, tx *refs.Tx) error {
		if tips := old.Tips(); !slices.Equal(tips, f.st.Tips) {
			return refs.ErrConflict
		}
		tx.Trailer("Op", "forget")
		says := f.answers
		if f.heeding == nil {
			says = []records.Purge{f.purge}
		}
		for _, p := range says {
			if _, err := tx.Add(records.KindPurge, p); err != nil {
				return err
			}
		}
		return nil
	}
	w := f.held
	if w == nil {
		var err error
		if w, err = f.m.Refs.Writer(ctx, f.p.ID); err != nil {
			return err
		}
		defer w.Close()
	}
	if !f.changes() {
		return w.Update(ctx, "forget", func(tx *refs.Tx) error { return write(tx, tx) })
	}
	return w.Rewrite(ctx, "forget", func(old, tx *refs.Tx) error {
		if err := f.rewrite(old, tx); err != nil {
			return err
		}
		return write(old, tx)
	})
}
