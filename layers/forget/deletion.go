package forget

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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

// ForgetOptions select what to delete: exactly one of Revs, Notes, Match, Secret, Tool and Since is set.
type ForgetOptions struct {
	Projects []state.Project // to search; those of Revs are added
	Revs     []state.Rev     // sessions, versions, compositions, messages
	Notes    []objects.Hash  // records of states of notes in Projects
	Match    *regexp.Regexp  // messages that match, in what was said or done in them
	Metadata bool            // with Match: or in the fields that the client writes, for example the branch
	Secret   []byte          // this value, in any spelling
	Tool     string          // the results of this tool
	Since    time.Time       // messages from this time on
	Until    time.Time       // and before this time, if it is not zero
	Moved    bool            // with Revs: another project has the same text, so that nothing is proved
	DryRun   bool
	Claude   string // Claude Code's directory, in which the files of resumed sessions are looked for; "" for none

	Progress func(bytes int64) // called with what was searched, from any goroutine; may be nil

	copies *originals.Guard // also the messages that it covers, in sessions that news selects
	news   func(*state.Session) bool
}

// searched reports that bytes were searched.
func (o ForgetOptions) searched(bytes int64) {
	if o.Progress != nil {
		o.Progress(bytes)
	}
}

func (o ForgetOptions) cause() string {
	switch {
	case o.news != nil:
		return records.CauseCopy
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

// A DeletedItem is deleted because it was selected or was derived from selected text.
type DeletedItem struct {
	Project string
	// session, messages, version, composition, exchange, fact, concept, rule, use, file, damaged file, record
	Kind   string
	Name   string
	Count  int    // of messages and records; 1 for a thing with a name
	Device string // the device of its lane, which deletes it when it syncs; "" for this device

	// What the user can make again from what remains, nil for everything else.
	Version     *records.Version
	Composition *records.Composition

	Redacted bool      // of messages: no clean text had what is deleted
	Pins     []int     // of a session or its messages: those with texts that the user pinned, unless Redacted
	Copy     bool      // of messages: selected in another session
	Waits    string    // of messages: the device that must sync before the rest of the session is shown again; after a fetch its name
	Newer    int       // of messages: how many newer ones are hidden until the device NewerOf has synced; 0 if Waits is set
	NewerOf  string    // a device, like Waits
	Of       int       // of a session or its messages: how many messages the session has
	Bytes    int64     // of a session or its messages
	Excerpts []Excerpt // of the same, in a dry run
}

// A Forgotten is the result of [Forget].
type Forgotten struct {
	Things   []DeletedItem
	Files    []string // files of Claude Code that still contain the deleted text
	Finished bool     // an interrupted deletion was finished first
	Proof    Proof    // zero for a dry run
	Remotes  []string // names of remotes that contain the deleted text until the next push
	// MetadataOnly is the number of messages that match only in fields that the client writes. They stay.
	MetadataOnly int
	// Exact are the devices that may have a deleted value in exact bytes of their own, where only they can find it.
	Exact []string
}

// ErrNothingToForget reports that the options select nothing.
var ErrNothingToForget = errors.New("there is nothing to forget")

// A NoToolError reports that no session used a tool. It wraps [ErrNothingToForget].
type NoToolError struct {
	Tool  string
	Tools []string // the tools that were used, sorted
}

func (e *NoToolError) Error() string {
	return fmt.Sprintf("no tool is called '%s': %v", e.Tool, ErrNothingToForget)
}

// Unwrap returns [ErrNothingToForget].
func (e *NoToolError) Unwrap() error { return ErrNothingToForget }

// ErrNotForgettable reports a revision that cannot be deleted by itself.
var ErrNotForgettable = errors.New("only sessions, messages, versions and compositions can be forgotten")

// A deletion is the plan of a deletion in one project.
type deletion struct {
	m  *state.DB
	o  ForgetOptions
	p  state.Project
	st *state.State

	records  []refs.Record         // of all lanes
	sessions map[string]bool       // deleted sessions
	direct   map[objects.Hash]bool // selected records
	ranges   map[string][][3]int   // selected messages by session: generation, from, to
	needles  [][]byte              // the spellings of a secret
	tools    map[string]bool       // the tools that were used, if results of a tool are selected

	metadataOnly int                  // messages that match only in the client's fields
	sizes        map[string]int64     // of deleted messages by session
	excerpts     map[string][]Excerpt // of deleted messages by session, in a dry run

	guards map[string]*originals.Guard // o.copies for the streams of other devices

	purges  *state.Purges     // the purges of other devices to apply, nil to apply o
	answers []json.RawMessage // those of purges that this device has not answered yet
	answer  bool              // answer them even if this device's lane does not change

	writer  *refs.Writer // of the project, nil in a dry run
	Stage   *refs.Stage
	streams map[objects.Hash]bool            // deleted or rewritten streams
	points  map[objects.Hash]bool            // their growth points
	regrown map[objects.Hash]capture.Regrown // rewritten growth points by record
	passed  messages                         // deleted messages
	// redacted are the messages of which only what a capture had replaced is deleted: no clean text changes.
	redacted messages
	sources  map[objects.Hash]bool            // growth points, and outputs of versions
	matched  map[objects.Hash]bool            // records of this device that contain selected text, see searchTexts
	drop     map[objects.Hash]bool            // deleted records
	gone     map[string]bool                  // names of deleted objects and records
	fresh    []string                         // of these, the ones whose users were not dropped yet
	names    map[string]string                // new names by old names
	bodies   map[objects.Hash]json.RawMessage // changed records
	patches  map[objects.Hash][]byte          // changed patches of unchanged records
	purge    records.Purge                    // for other devices
	Seals    originals.Seals
	files    []string
	items    []DeletedItem
	exact    []string // devices that have exact bytes of their own of sessions with redacted messages

	cleaner *laneCleaner // moves secrets to patches; nil for a deletion
}

// NewDeletion returns an empty plan on the state of a project, whose lanes it locks unless it is for a dry run. purges has
// the purges of other devices to apply, nil to apply o. The caller closes it.
func NewDeletion(ctx context.Context, db *state.DB, p state.Project, o ForgetOptions,
	purges *state.Purges) (*deletion, error) {
	f := &deletion{m: db, o: o, p: p, sessions: map[string]bool{}, direct: map[objects.Hash]bool{},
		ranges: map[string][][3]int{}, sizes: map[string]int64{}, excerpts: map[string][]Excerpt{},
		streams: map[objects.Hash]bool{}, points: map[objects.Hash]bool{}, regrown: map[objects.Hash]capture.Regrown{},
		passed: messages{}, redacted: messages{}, sources: map[objects.Hash]bool{}, guards: map[string]*originals.Guard{},
		tools: map[string]bool{}, matched: map[objects.Hash]bool{}, drop: map[objects.Hash]bool{}, gone: map[string]bool{},
		names: map[string]string{}, bodies: map[objects.Hash]json.RawMessage{}, patches: map[objects.Hash][]byte{},
		purges: purges}
	f.purge.Cause = o.cause()
	var err error
	if !o.DryRun {
		if f.writer, err = db.Refs.Writer(ctx, p.ID); err != nil {
			return nil, err
		}
	}
	err = db.Refs.View(ctx, p.ID, func(tx *refs.Tx) (err error) {
		if f.records, err = tx.Records(ctx, nil); err != nil {
			return err
		}
		if purges != nil {
			f.st, err = unfiltered(p.ID, f.records, tx.Tips(), db.Refs.Device().ID)
		} else {
			f.st, err = db.Fold(ctx, tx, p.ID)
		}
		return err
	})
	if err == nil {
		f.Stage, err = db.Refs.Stage(ctx)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close unlocks the lanes and drops what was staged.
func (f *deletion) Close() {
	if f.Stage != nil {
		f.Stage.Close()
	}
	if f.writer != nil {
		f.writer.Close()
	}
}

func (f *deletion) own(device string) bool { return device == f.m.Refs.Device().ID }

// selectItems selects the items that the options name.
func (f *deletion) selectItems(ctx context.Context) error {
	if f.o.Secret != nil {
		f.needles = markers.Spellings(f.o.Secret)
		for _, n := range f.needles {
			f.Seals.Values = append(f.Seals.Values, originals.SealValue(f.m, n))
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
	for _, h := range f.o.Notes {
		f.direct[h] = true
	}
	for again := true; again; { // subagents are deleted with their session, unless another branch has them
		again = false
		for _, s := range f.st.Sessions {
			up := f.st.Session(s.Parent())
			if !f.sessions[s.ID] && up != nil && f.sessions[up.ID] && !slices.ContainsFunc(s.Points, func(p records.Point) bool {
				return up.File != "" && !up.On(p.Stamp.Device)
			}) {
				f.sessions[s.ID], again = true, true
			}
		}
	}
	return ctx.Err()
}

// Plan determines what is deleted and changed. It writes only to the stage.
func (f *deletion) Plan(ctx context.Context) error {
	selectAll := f.selectItems
	if f.purges != nil {
		selectAll = f.selectPurged
	}
	if err := selectAll(ctx); err != nil {
		return err
	}
	for _, s := range f.st.Sessions {
		for _, p := range s.Points {
			if f.purges == nil || f.own(p.Stamp.Device) { // a purge is not looked for in streams of other devices
				f.sources[p.Original] = true
			}
		}
		if err := f.session(ctx, s); err != nil {
			return fmt.Errorf("session %s: %w", records.ShortID(s.ID), err)
		}
		if f.sessions[s.ID] {
			f.purge.Sessions = append(f.purge.Sessions, purgeKeys(s)...)
		}
	}
	for _, v := range f.st.Versions {
		f.sources[v.Derivation.Output] = true
	}
	slices.Sort(f.purge.Sessions)
	if err := f.searchTexts(ctx); err != nil {
		return err
	}
	if err := f.dropRecords(); err != nil {
		return err
	}
	for _, r := range f.records { // what another device made of a dropped record cannot be found once that is gone
		if f.direct[r.ID] || f.drop[r.ID] && !f.own(r.Device) && !f.naming(r) {
			f.purge.Records = append(f.purge.Records, state.RecordName(state.StampOf(r)))
		}
	}
	f.purgeLabels()
	f.describe()
	return f.sealNotes() // not described: the notes are
}

// purgeKeys returns the names of a session in a purge: of a branch one for each of its devices.
func purgeKeys(s *state.Session) (out []string) {
	if s.File == "" {
		return []string{state.PurgeKey(s.ID)}
	}
	for _, p := range s.Points {
		if key := state.PurgeKey(records.SessionOn(s.File, p.Stamp.Device)); !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	return out
}

// about returns the sessions that a record is about. Of a session with several branches that is the one of the record's device.
func (f *deletion) about(r refs.Record) []string {
	out := state.SessionsIn(r.Kind, r.Body)
	for i, id := range out {
		out[i] = f.st.IDOf(id, objects.Hash{}, r.Device)
	}
	return out
}

// identify adds the keys of the messages that are selected by their numbers to keys, and what the revisions select to text.
// A fork, another branch and another file of a session have copies of those messages, which are deleted too. Copies of a
// session that is deleted as a whole stay.
func (f *deletion) identify(ctx context.Context, keys map[string]bool, text deletedText) error {
	if err := f.selectItems(ctx); err != nil {
		return err
	}
	for _, s := range f.st.Sessions {
		for _, p := range lastPoints(s) {
			if !f.sessions[s.ID] && f.ranges[s.ID] == nil {
				continue
			}
			err := eachMessage(ctx, f.m, f.p.ID, p, func(v transcript.Value) {
				switch {
				case IsForgotten(v.Raw):
				case f.sessions[s.ID]:
					text.add(v)
				case f.numbered(s, p.Generation, v.N):
					text.add(v)
					if key := originals.KeyOf(v); key != "" {
						keys[key] = true
					}
				}
			})
			if err != nil && !(f.sessions[s.ID] && unreadable(err)) && !errors.Is(err, objects.ErrNotFound) {
				return fmt.Errorf("session %s: %w", records.ShortID(s.ID), err)
			}
		}
	}
	return nil
}

// numbered reports whether a message is selected by its number.
func (f *deletion) numbered(s *state.Session, generation, n int) bool {
	return slices.ContainsFunc(f.ranges[s.ID], func(r [3]int) bool { return r[0] == generation && r[1] <= n && n <= r[2] })
}

// session plans the deletion in one session.
func (f *deletion) session(ctx context.Context, s *state.Session) error {
	if f.sessions[s.ID] {
		f.dropSession(s)
		return nil
	}
	if f.o.Match == nil && f.needles == nil && f.o.Tool == "" && f.o.cause() != "since" && f.o.copies == nil &&
		(f.purges == nil || !f.concerned(s)) || f.o.news != nil && !f.o.news(s) {
		return nil
	}
	names := map[string]bool{} // overflow files that deleted messages name
	err := capture.OwnStreams(ctx, f.m, f.p.ID, s, func(o *capture.OwnStream) error {
		return f.stream(ctx, s, o, names)
	})
	if err != nil || f.purges != nil {
		return err
	}
	return f.otherStreams(ctx, s)
}

// concerned reports whether an unanswered purge names messages of a session.
func (f *deletion) concerned(s *state.Session) bool {
	for range f.passages(s) {
		return true
	}
	return false
}

// acked reports whether this device has answered a purge. What it captured or derived later is kept.
func (f *deletion) acked(q state.StoredPurge) bool {
	return f.purges.Acked[f.m.Refs.Device().ID+q.Sum.String()]
}

// dropSession plans to delete a session.
func (f *deletion) dropSession(s *state.Session) {
	for _, p := range s.Points {
		if f.own(p.Stamp.Device) {
			f.streams[stream.Name(p.Session, p.Generation)] = true
			f.points[p.Original] = true
		}
		for _, file := range p.Files {
			f.markGone(file.Hash)
		}
		f.markGone(p.Original)
	}
	f.noteSources(s)
}

// noteSources adds the files from which this device captured a session, and those that Claude Code has of it here, which
// a resume wrote. The files of other devices have paths that mean something else here.
func (f *deletion) noteSources(s *state.Session) {
	var files []string
	for _, p := range s.Points {
		if f.own(p.Stamp.Device) && p.Source != "" {
			files = append(files, p.Source)
		}
	}
	if f.o.Claude != "" {
		here, _ := filepath.Glob(filepath.Join(f.o.Claude, "projects", "*", s.FileID()+".jsonl")) // an error is one of the pattern
		files = append(files, here...)
	}
	for _, file := range files {
		if !slices.Contains(f.files, file) {
			f.files = append(f.files, file)
		}
	}
}

// selector returns a function that selects values of a stream: the whole value, or spots in it. values calls a function
// with each value of the stream, whose last point is p.
func (f *deletion) selector(s *state.Session, p *records.Point,
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
	generation, copies := p.Generation, f.o.copies
	if copies != nil && !f.own(p.Stamp.Device) {
		if copies = f.guards[p.Stamp.Device]; copies == nil {
			copies = f.o.copies.Of(p.Stamp.Device)
			f.guards[p.Stamp.Device] = copies
		}
	}
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
		case f.purges != nil:
			return f.purgedElsewhere(s, generation, v), nil
		case f.needles != nil:
			return false, originals.PlacesOf(v.Raw, f.needles)
		case f.o.Match != nil:
			match := f.o.matcher().record(v.Raw)
			if !match && f.o.Match.Match(v.Raw) {
				f.metadataOnly++
			}
			return match, nil
		case f.o.Tool != "":
			return known && msg.Type != "assistant" && namesOne(v.Raw, calls), nil
		case f.o.cause() == "since":
			return !last.IsZero() && !last.Before(f.o.Since) && (f.o.Until.IsZero() || last.Before(f.o.Until)), nil
		}
		whole, spots := copies.Covers(s.FileID(), v)
		return whole || f.numbered(s, generation, v.N), spots
	}, nil
}

// namesOne reports whether a record contains the ID of one of some tool calls as a string.
func namesOne(raw []byte, calls map[string]bool) bool {
	for {
		_, rest, opened := bytes.Cut(raw, quote)
		id, _, closed := bytes.Cut(rest, quote)
		if !opened || !closed {
			return false
		}
		if calls[string(id)] {
			return true
		}
		raw = rest
	}
}

var quote = []byte(`"`)

// purgedElsewhere reports whether another device has deleted a message that this device captured too.
func (f *deletion) purgedElsewhere(s *state.Session, generation int, v transcript.Value) bool {
	key := originals.KeyOf(v)
	for p := range f.passages(s) {
		if p.ID == key && (key != "" || p.Generation == generation && p.N == v.N) {
			return true
		}
	}
	return false
}

// IsForgotten reports whether a record of a transcript is the placeholder of a deleted one.
func IsForgotten(raw []byte) bool {
	return bytes.Equal(raw, originals.Placeholder(len(raw), raw[0] != '{', originals.IsPrompt(raw)))
}

// messages are numbers of messages by session and generation.
type messages map[string]map[int]map[int]bool

// add adds a message, and reports whether it was there before.
func (m messages) add(session string, generation, n int) (before bool) {
	if m[session] == nil {
		m[session] = map[int]map[int]bool{}
	}
	numbers := m[session][generation]
	if numbers == nil {
		numbers = map[int]bool{}
		m[session][generation] = numbers
	}
	before, numbers[n] = numbers[n], true
	return before
}

// count returns the number of messages of a session.
func (m messages) count(session string) (n int) {
	for _, numbers := range m[session] {
		n += len(numbers)
	}
	return n
}

// markDeleted marks a message as deleted and adds it to the purge. If spots is not nil, only they are deleted. If they were
// redacted, no other device has them, and the purge does not name the message.
func (f *deletion) markDeleted(s *state.Session, generation int, v transcript.Value, spots [][2]int, redacted bool) {
	if redacted {
		if !f.redacted.add(s.ID, generation, v.N) {
			f.sample(s, v, spots)
		}
		return
	}
	before := f.passed.add(s.ID, generation, v.N)
	if !before {
		f.sample(s, v, spots)
	} else if f.purges == nil {
		return
	}
	x := records.Passage{Generation: generation, N: v.N, ID: originals.KeyOf(v), Part: spots != nil}
	for _, x.Session = range purgeKeys(s) {
		f.purge.Passages = append(f.purge.Passages, x)
	}
}

// purgeLabels adds the numbers of deleted versions, which are not used again, to the purge.
func (f *deletion) purgeLabels() {
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

// changes reports whether this device's lane or one of its patches changes.
func (f *deletion) changes() bool { return f.changesLane() || len(f.patches) > 0 }

// changesLane reports whether what is deleted is in this device's lane.
func (f *deletion) changesLane() bool {
	for _, r := range f.records {
		if _, anew := f.bodies[r.ID]; f.own(r.Device) && (f.drop[r.ID] || anew) {
			return true
		}
	}
	return len(f.regrown) > 0
}

// found reports whether anything is deleted in any lane.
func (f *deletion) found() bool { return f.changes() || len(f.items) > 0 }

// Apply commits the plan: it rewrites this device's lane, or adds a purge if only patches or the lanes of others change.
func (f *deletion) Apply(ctx context.Context) error {
	if !f.changesLane() {
		return f.writer.Update(ctx, f.subject(), func(tx *refs.Tx) error {
			for id, patch := range f.patches {
				if err := tx.PutPatch(id, patch); err != nil {
					return err
				}
			}
			return f.note(tx)
		})
	}
	return f.writer.Rewrite(ctx, f.subject(), func(old, tx *refs.Tx) error {
		if err := f.rewrite(old, tx); err != nil {
			return err
		}
		return f.note(tx)
	})
}

// subject returns the line of the log: the deleted messages of sessions that remain, by their numbers.
func (f *deletion) subject() string {
	out := "forget"
	for _, t := range f.items {
		if t.Kind == "messages" && t.Device == "" {
			session, numbers, _ := strings.Cut(t.Name, "#")
			session, _, _ = strings.Cut(session, "~") // the branches may be one when they have all deleted the messages
			out += " " + session + "#" + numbers
		}
	}
	if b := []byte(out); originals.Holds(b, f.needles) || f.o.Match != nil && f.o.Match.Match(b) {
		return "forget"
	}
	return out
}

// note adds the purge for other devices, or the answers to theirs.
func (f *deletion) note(tx *refs.Tx) error {
	if f.purges == nil {
		tx.Trailer("Op", "forget")
		_, err := tx.Add(records.KindPurge, f.purge)
		return err
	}
	tx.Trailer("Op", "purge")
	for _, body := range f.answers {
		if _, err := tx.Add(records.KindPurge, body); err != nil {
			return err
		}
	}
	if len(f.purge.Labels) == 0 {
		return nil
	}
	_, err := tx.Add(records.KindPurge, records.Purge{Cause: f.purge.Cause, Labels: f.purge.Labels})
	return err
}
