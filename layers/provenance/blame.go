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
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trace"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/refs"
)

// A BlameLine is a line of a version or composition with its origin.
type BlameLine struct {
	trace.Origin
	Session *state.Session // nil if the line has no session, or the session is missing
	Role    string         // speaker: user, assistant, tool Bash, mem for a remark; empty if there are several
	Time    string         // of the first of the messages, in the form of the transcript
	Keep    string         // weight of the marker that contains the line
	Marker  string         // name of the marker: k1
}

// ErrNotBlamable means that a revision is neither a version nor a composition.
var ErrNotBlamable = errors.New("only versions and compositions can be blamed")

// Blame returns the lines of a version or composition, as in its Markdown form, with the messages that each comes from.
func Blame(ctx context.Context, db *state.DB, rev state.Rev) ([]BlameLine, error) {
	t := &tracer{m: db, sessions: map[string]*state.Session{}}
	b := &blamer{t: t, ctx: ctx, sources: map[string]*sourceText{}}
	lines, pieces, err := b.lines(rev)
	if err != nil {
		return nil, err
	}
	var out []BlameLine
	for _, o := range trace.Blame(lines, b.withResults(pieces), b.messageText) {
		out = append(out, b.lineOf(o, pieces))
	}
	return out, b.err
}

// A blamer executes one Blame.
type blamer struct {
	t       *tracer
	ctx     context.Context
	points  []sourcePoint
	sources map[string]*sourceText // by source
	err     error
}

type sourcePoint struct {
	source  string
	project refs.Project
	session *state.Session
	point   *records.Point
}

// lines returns the lines of rev and the pieces that contain them.
func (b *blamer) lines(rev state.Rev) ([]trace.Line, []trace.Piece, error) {
	switch rev.Kind {
	case state.IsVersion:
		side, err := b.t.version(b.ctx, rev)
		b.addPoint(rev)
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
		text, err := Markdown(b.ctx, b.t.m, rev)
		return trace.Locate(text, side.Pieces), side.Pieces, err
	}
	return nil, nil, fmt.Errorf("%s is a %s: %w", rev.Name(), rev.Kind, ErrNotBlamable)
}

func (b *blamer) addPart(part records.CompositionPart) error {
	rev, err := partRev(b.ctx, b.t.m, part)
	if err != nil || rev.Session == nil {
		return err
	}
	b.addPoint(rev)
	return nil
}

// addPoint adds the growth point that a version or original comes from.
func (b *blamer) addPoint(rev state.Rev) {
	p := pointOf(rev)
	b.points = append(b.points, sourcePoint{b.t.source(rev.Session, p), rev.Project.ID, rev.Session, p})
}

// withResults adds to the pieces the messages with the results of their tool calls, because a piece names only the
// message of a call, although it may describe the result. It removes messages that do not exist: a version of another
// device can name any.
func (b *blamer) withResults(pieces []trace.Piece) []trace.Piece {
	out := slices.Clone(pieces)
	for i, p := range out {
		v := b.source(p.Source)
		var src [][2]int
		for _, run := range p.Src {
			if run[1] = min(run[1], v.last); run[0] <= run[1] {
				src = append(src, run)
			}
			for n := run[0]; n <= run[1] && p.Keep == "" && len(v.results) > 0; n++ {
				if at, ok := v.results[n]; ok {
					src = append(src, [2]int{at, at})
				}
			}
		}
		out[i].Src = version.Runs(src...)
	}
	return out
}

// maxUnread is the largest accepted number of a message of a source that this memory does not have.
const maxUnread = 1 << 16

// A sourceText contains the texts of a session by message.
type sourceText struct {
	last     int // the last message
	messages map[int][]string
	// from a message with one tool call to that with the result; from one that left the queue to that which queued it
	results map[int]int
	sent    map[int]int // from a message that queued text to that in which it left the queue
	role    map[int]string
	time    map[int]string
	markers []planning.Mark
}

// messageText returns the text of a message. The first error is stored; a message that cannot be read has no text.
func (b *blamer) messageText(source string, n int) string {
	v := b.source(source)
	return strings.Join(v.messages[n], "\n")
}

func (b *blamer) source(source string) *sourceText {
	if v, ok := b.sources[source]; ok {
		return v
	}
	v := &sourceText{last: maxUnread, messages: map[int][]string{}, results: map[int]int{}, sent: map[int]int{},
		role: map[int]string{}, time: map[int]string{}}
	b.sources[source] = v
	for _, at := range b.points {
		if at.source == source {
			if err := b.load(v, at); err != nil && b.err == nil {
				b.err = err
			}
			break
		}
	}
	return v
}

// load reads the texts up to a growth point: L1, from which versions are made, and the output of tools.
func (b *blamer) load(v *sourceText, at sourcePoint) error {
	m := b.t.m
	l1, err := originals.L1(b.ctx, m, at.project, at.point.Original, refine.Full)
	if err != nil {
		return err
	}
	defer l1.Close()
	calls, uses := map[string]int{}, map[int]int{}
	queued, left := map[string]int{}, map[int]bool{}
	v.last = 0
	for msg, err := range markers.Messages(b.ctx, m, at.project, at.point, [2]int{1, at.point.Scan.Values}, nil) {
		if err != nil {
			return err
		}
		v.last = msg.N
		switch msg.Operation {
		case "enqueue":
			queued[msg.Content] = msg.N
		case "remove":
			left[msg.N] = msg.Content == "" // the text is in the message that queued it
		}
		for _, x := range msg.Blocks {
			switch x.Kind {
			case transcript.ToolUse:
				calls[x.ToolID] = msg.N
				uses[msg.N]++
			case transcript.ToolResult:
				v.add(msg.N, "tool result", msg.TS, x.Result())
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
		v.last = max(v.last, e.N) // also of an unreadable message
		if at := v.results[e.N]; at > 0 && e.Role == "tool" {
			v.add(at, "tool result", e.TS, refine.Entry{Result: e.Result, Errors: e.Errors}.Text())
			e.Result, e.Errors = "", nil
		}
		if at := queued[e.Said]; at > 0 && left[e.N] && e.Typed() {
			v.results[e.N], v.sent[at] = at, e.N
			v.add(at, "user", e.TS, e.Said)
		}
		v.messages[e.N] = append(v.messages[e.N], e.Text())
		if v.role[e.N] == "" || e.Role == "user" || e.Role == "assistant" {
			v.role[e.N], v.time[e.N] = speakerOf(e), e.TS
		}
	}
	v.markers, err = b.marks(at)
	return err
}

// marks returns the markers of a session up to a growth point.
func (b *blamer) marks(at sourcePoint) ([]planning.Mark, error) {
	ops := b.t.m
	items, err := markers.Items(b.ctx, ops, at.project, at.session, at.point)
	if err != nil {
		return nil, err
	}
	return at.session.Marks(compress.Input{Items: items}, at.point), nil
}

// add adds a text to a message, and sets the speaker if none is set.
func (v *sourceText) add(n int, role, ts, text string) {
	v.messages[n] = append(v.messages[n], text)
	if v.role[n] == "" {
		v.role[n], v.time[n] = role, refine.Seconds(ts)
	}
}

// speakerOf returns the speaker of an entry.
func speakerOf(e refine.Entry) string {
	if e.Role == "tool" && e.Name != "" {
		return "tool " + e.Name
	}
	return e.Author()
}

func (b *blamer) lineOf(o trace.Origin, pieces []trace.Piece) BlameLine {
	out := BlameLine{Origin: o}
	if o.Piece < 0 {
		return out
	}
	v, p := b.source(o.Source), pieces[o.Piece]
	out.Session = b.t.sessions[o.Source]
	if len(o.Messages) > 0 && !o.Frame {
		out.Time = v.time[o.Messages[0][0]]
		if version.Messages(o.Messages) == 1 {
			out.Role = v.role[o.Messages[0][0]]
		}
		if said := out.Role == "user" || out.Role == "script"; said && (p.Role == "assistant" || p.Role == "tool") {
			out.Role = p.Role // the message of an answer has the question too, and that of a refusal the call
		}
		if p.Remark() {
			out.Role = "mem" // it says it of these messages
		}
	}
	if version.Messages(o.Messages) == 1 {
		if to, ok := v.sent[o.Messages[0][0]]; ok {
			out.Messages = version.Runs(o.Messages[0], [2]int{to, to})
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

// FilterBlame returns the supported lines that come from rev: a session, or some of its messages.
func FilterBlame(lines []BlameLine, rev state.Rev) []BlameLine {
	var out []BlameLine
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
