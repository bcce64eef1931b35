package provenance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trace"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/refs"
)

// A Blamed is a line of a version or composition and where it came from.
type Blamed struct {
	trace.Origin
	Session *state.Session // nil for a line of no session, or of one that is not here
	Role    string         // who said it: user, assistant, tool Bash; empty if several did
	Time    string         // of the first of the messages, as the transcript has it
	Keep    string         // the weight of the marker whose text it is
	Marker  string         // its name: k1
}

// ErrNotBlamable says that a revision names nothing that was made from messages.
var ErrNotBlamable = errors.New("only versions and compositions can be blamed")

// Blame returns the lines of a version or composition, as its Markdown has them, each with the messages it came from.
func (m Ops) Blame(ctx context.Context, rev state.Rev) ([]Blamed, error) {
	t := &tracer{m: m, sessions: map[string]*state.Session{}}
	b := &blaming{t: t, ctx: ctx, voices: map[string]*voices{}}
	lines, pieces, err := b.lines(rev)
	if err != nil {
		return nil, err
	}
	var out []Blamed
	for _, o := range trace.Blame(lines, b.withResults(pieces), b.said) {
		out = append(out, b.blamed(o, pieces))
	}
	return out, b.err
}

// blaming is a blame on its way.
type blaming struct {
	t      *tracer
	ctx    context.Context
	points []pointAt
	voices map[string]*voices // by source
	err    error
}

type pointAt struct {
	source  string
	project refs.Project
	session *state.Session
	point   *records.Point
}

// lines returns the lines of what rev names and the pieces they are of.
func (b *blaming) lines(rev state.Rev) ([]trace.Line, []trace.Piece, error) {
	switch rev.Kind {
	case state.IsVersion:
		side, err := b.t.version(b.ctx, rev)
		p := state.PointOf(rev.Session, rev.Version.Origin())
		b.points = append(b.points, pointAt{b.t.source(rev.Session, p), rev.Project.ID, rev.Session, p})
		return trace.VersionLines(side.Pieces), side.Pieces, err
	case state.IsComposition:
		side, err := b.t.composition(b.ctx, rev)
		if err != nil {
			return nil, nil, err
		}
		for _, part := range rev.Composition.Parts {
			if err := b.addPart(part); err != nil {
				return nil, nil, err
			}
		}
		text, err := b.t.m.Markdown(b.ctx, rev)
		return trace.Locate(text, side.Pieces), side.Pieces, err
	}
	return nil, nil, fmt.Errorf("%s is a %s: %w", rev.Name(), rev.Kind, ErrNotBlamable)
}

func (b *blaming) addPart(part records.CompositionPart) error {
	rev, err := b.t.m.partRev(b.ctx, part)
	if err != nil || rev.Session == nil {
		return err
	}
	p := state.PointOf(rev.Session, part.Output)
	if rev.Kind == state.IsVersion {
		p = state.PointOf(rev.Session, rev.Version.Origin())
	}
	b.points = append(b.points, pointAt{b.t.source(rev.Session, p), rev.Project.ID, rev.Session, p})
	return nil
}

// withResults returns the pieces with the messages that brought the results of their calls. A piece names a call by its
// message alone, although it may tell of its result.
func (b *blaming) withResults(pieces []trace.Piece) []trace.Piece {
	out := slices.Clone(pieces)
	for i, p := range out {
		if p.Keep != "" {
			continue
		}
		results, src := b.voice(p.Source).results, slices.Clone(p.Src)
		for _, run := range p.Src {
			for n := run[0]; n <= run[1]; n++ {
				if at, ok := results[n]; ok {
					src = append(src, [2]int{at, at})
				}
			}
		}
		out[i].Src = trace.Runs(src...)
	}
	return out
}

// voices are what was said in a session, by message.
type voices struct {
	said map[int][]int // in texts
	// by message with one call: that with its result; by one that left the queue: that where it was typed
	results map[int]int
	sent    map[int]int // by message where it was typed into the queue: that where it left it
	texts   *compress.Aside
	role    map[int]string
	time    map[int]string
	markers []compress.Mark
}

// said returns what was said in a message. The first error is kept: a message that cannot be read supports nothing.
func (b *blaming) said(source string, n int) string {
	v := b.voice(source)
	var parts []string
	for _, i := range v.said[n] {
		parts = append(parts, v.texts.At(i))
	}
	if err := v.texts.Err(); err != nil && b.err == nil {
		b.err = err
	}
	return strings.Join(parts, "\n")
}

func (b *blaming) voice(source string) *voices {
	if v, ok := b.voices[source]; ok {
		return v
	}
	v := &voices{said: map[int][]int{}, results: map[int]int{}, sent: map[int]int{},
		texts: markers.On(b.t.m.DB).PutAside(), role: map[int]string{}, time: map[int]string{}}
	b.voices[source] = v
	for _, at := range b.points {
		if at.source == source {
			if err := b.listen(v, at); err != nil && b.err == nil {
				b.err = err
			}
			break
		}
	}
	return v
}

// listen reads what was said up to a growth point: L1, which a version is made of, and what tools returned.
func (b *blaming) listen(v *voices, at pointAt) error {
	m := b.t.m
	l1, err := originals.On(m.DB).L1(b.ctx, at.project, at.point.Original, refine.Full)
	if err != nil {
		return err
	}
	defer l1.Close()
	calls, uses := map[string]int{}, map[int]int{}
	queued, left := map[string]int{}, map[int]bool{}
	for msg, err := range markers.On(m.DB).Messages(b.ctx, at.project, at.point, [2]int{1, at.point.Scan.Values}, nil) {
		if err != nil {
			return err
		}
		switch msg.Operation {
		case "enqueue":
			queued[msg.Content] = msg.N
		case "remove":
			left[msg.N] = msg.Content == "" // the text stands where it was queued
		}
		for _, x := range msg.Blocks {
			switch x.Kind {
			case transcript.ToolUse:
				calls[x.ToolID] = msg.N
				uses[msg.N]++
			case transcript.ToolResult:
				v.hear(msg.N, "tool result", msg.TS, x.Result())
				if call := calls[x.ToolID]; uses[call] == 1 {
					v.results[call] = msg.N
				}
			}
		}
	}
	for e, err := range refine.Entries(l1) {
		if err != nil {
			return err
		}
		if at := v.results[e.N]; at > 0 && e.Role == "tool" {
			v.hear(at, "tool result", e.TS, refine.Entry{Result: e.Result, Errors: e.Errors}.Text())
			e.Result, e.Errors = "", nil
		}
		if at := queued[e.Said]; at > 0 && left[e.N] && e.Typed() {
			v.results[e.N], v.sent[at] = at, e.N
			v.hear(at, "user", e.TS, e.Said)
		}
		v.said[e.N] = append(v.said[e.N], v.texts.Put(e.Text()))
		if v.role[e.N] == "" || e.Role == "user" || e.Role == "assistant" {
			v.role[e.N], v.time[e.N] = voiceOf(e), e.TS
		}
	}
	in := compress.Input{Aside: markers.On(m.DB).PutAside()}
	in.Items, err = markers.On(m.DB).ItemsWith(b.ctx, at.project, at.session, at.point,
		markers.ItemOptions{Aside: in.Aside})
	if err != nil {
		return err
	}
	v.markers = at.session.Marks(in, at.point)
	return in.Aside.Err()
}

// hear notes what was said in a message, and by whom, if that is not known.
func (v *voices) hear(n int, role, ts, text string) {
	v.said[n] = append(v.said[n], v.texts.Put(text))
	if v.role[n] == "" {
		v.role[n], v.time[n] = role, refine.Seconds(ts)
	}
}

// voiceOf says who speaks in an entry.
func voiceOf(e refine.Entry) string {
	if e.Role == "tool" && e.Name != "" {
		return "tool " + e.Name
	}
	if e.Prompt() && e.Script {
		return "script"
	}
	return e.Role
}

func (b *blaming) blamed(o trace.Origin, pieces []trace.Piece) Blamed {
	out := Blamed{Origin: o}
	if o.Piece < 0 {
		return out
	}
	v, p := b.voice(o.Source), pieces[o.Piece]
	out.Session = b.t.sessions[o.Source]
	if len(o.Messages) > 0 && !o.Frame {
		out.Time = v.time[o.Messages[0][0]]
		if trace.Messages(o.Messages) == 1 {
			out.Role = v.role[o.Messages[0][0]]
		}
	}
	if trace.Messages(o.Messages) == 1 {
		if to, ok := v.sent[o.Messages[0][0]]; ok {
			out.Messages = trace.Runs(o.Messages[0], [2]int{to, to})
		}
	}
	if p.Keep == "" || o.Frame {
		return out
	}
	out.Keep = p.Keep
	for i, k := range v.markers {
		if trace.In(p.Src, k.Message) && k.Text == p.Text {
			out.Marker = fmt.Sprintf("k%d", i+1)
			break
		}
	}
	return out
}

// BlamedFrom returns the lines that came from what rev names: a session, or some of its messages.
func BlamedFrom(lines []Blamed, rev state.Rev) []Blamed {
	var out []Blamed
	for _, l := range lines {
		if l.Session == nil || l.Session.ID != rev.Session.ID || l.Frame || !l.Supported {
			continue
		}
		for _, r := range l.Messages {
			if rev.Kind != state.IsMessages || r[0] <= rev.To && rev.From <= r[1] {
				out = append(out, l)
				break
			}
		}
	}
	return out
}
