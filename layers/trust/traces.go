package trust

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A tainted is a message from a revoked source: the result of a tool or the call, next to which L1 shows the result.
type tainted struct {
	n    int
	call bool
	why  string
}

// TaintedMessages are the messages of a session from revoked sources, in order.
type TaintedMessages []tainted

func (p TaintedMessages) empty() bool { return len(p) == 0 }

// spans returns the messages, without reasons.
func (p TaintedMessages) spans() [][2]int {
	var out [][2]int
	for _, x := range p {
		if n := len(out); n > 0 && out[n-1][1] >= x.n-1 {
			out[n-1][1] = max(out[n-1][1], x.n)
			continue
		}
		out = append(out, [2]int{x.n, x.n})
	}
	return out
}

// reason returns why a text made from the messages after since, except those in without, is hidden; "" if it is not.
func (p TaintedMessages) reason(since int, without [][2]int) string {
	for _, x := range p {
		if !x.call && x.n > since && originals.Outside(x.n, without) {
			return fmt.Sprintf("message %d: %s", x.n, x.why)
		}
	}
	return ""
}

// In returns why data that depends on some messages is hidden, "" if it is not. Only results count, not calls.
func (p TaintedMessages) In(from, to int) string {
	for _, x := range p {
		if !x.call && x.n >= from && x.n <= to {
			return fmt.Sprintf("message %d: %s", x.n, x.why)
		}
	}
	return ""
}

// Called returns why data that depends on the result of a call in message n is hidden, "" if it is not.
func (p TaintedMessages) Called(n int) string {
	for _, x := range p {
		if x.call && x.n == n {
			return fmt.Sprintf("message %d: %s", x.n, x.why)
		}
	}
	return ""
}

// PlacesAt returns the messages of a session with content h that come from revoked tools and hosts.
func PlacesAt(ctx context.Context, db *state.DB, p refs.Project, s *state.Session, h objects.Hash,
	by []Revocation) (TaintedMessages, error) {
	at := state.PointOf(s, h)
	last := at
	for i := range s.Points { // message numbers are stable in a generation
		if q := &s.Points[i]; q.Stamp.Device == at.Stamp.Device && q.Generation == at.Generation &&
			q.Scan.Values >= last.Scan.Values {
			last = q
		}
	}
	var out TaintedMessages
	for _, r := range by {
		if r.Kind == records.SessionSource {
			continue
		}
		t, err := traces(ctx, db, p, last.Original, r.Origin)
		if err != nil {
			return nil, fmt.Errorf("look for %s in %s: %w", r.Origin, records.ShortID(s.ID), err)
		}
		for _, n := range t.Results {
			out = append(out, tainted{n, false, r.why()})
		}
		for _, n := range t.Calls {
			out = append(out, tainted{n, true, r.why()})
		}
	}
	out = slices.DeleteFunc(out, func(x tainted) bool { return x.n > at.Scan.Values })
	slices.SortStableFunc(out, func(a, b tainted) int { return cmp.Compare(a.n, b.n) })
	return out, nil
}

// A traceList is the messages of a session that come from a source.
type traceList struct {
	Results []int // messages with results from it
	Calls   []int // messages with the calls of these results
}

// tracesVersion changes with what is recognised; cached results of another version are not used.
const tracesVersion = 4

func traces(ctx context.Context, db *state.DB, p refs.Project, original objects.Hash, src records.Origin) (*traceList,
	error) {
	file := db.CachePath("traces", fmt.Sprintf("%s-%s", original, objects.Sum([]byte(src.Kind+"\n"+src.Name)).Short()))
	if t, ok := db.Traced.Load(file); ok {
		return t.(*traceList), nil
	}
	t := &traceList{}
	if state.ReadCache(file, tracesVersion, t) {
		db.Touch(file)
	} else {
		f := finder{src: src, open: map[string]call{}}
		if err := toolBlocks(ctx, db, p, original, f.block); err != nil {
			return nil, err
		}
		t = &f.found
		db.WriteCache(file, tracesVersion, t)
	}
	db.Traced.Store(file, t)
	return t, nil
}

// toolBlocks passes the calls of tools in a session and their results, with the numbers of their messages.
func toolBlocks(ctx context.Context, db *state.DB, p refs.Project, original objects.Hash,
	each func(n int, b transcript.Block)) error {
	return originals.Stream(ctx, db, p, original, func(r io.Reader) error {
		for v, err := range transcript.Stream(r, originals.HugeValue) {
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return err
			}
			if v.Opaque || !bytes.Contains(v.Raw, []byte(`"tool_`)) && !transcript.Foreign(v.Raw) {
				continue
			}
			msg, err := transcript.Decode(v)
			if err != nil {
				continue // not a record
			}
			for _, b := range msg.Blocks {
				each(v.N, b)
			}
		}
		return nil
	})
}

// A finder finds the traces of a source.
type finder struct {
	src   records.Origin
	open  map[string]call // those without a result, by id
	found traceList
}

// A call is that of a tool.
type call struct {
	n     int  // its message
	names bool // the source, a host
}

func (f *finder) block(n int, b transcript.Block) {
	host := f.src.Kind == records.HostSource
	switch b.Kind {
	case transcript.ToolUse:
		if host || ToolMatches(b.Name, f.src.Name) {
			f.open[b.ToolID] = call{n, host && NamesHost(string(b.Input), f.src.Name)}
		}
	case transcript.ToolResult:
		c, ok := f.open[b.ToolID]
		delete(f.open, b.ToolID)
		if host && (c.names || NamesHost(b.Text, f.src.Name) || NamesHost(string(b.Content), f.src.Name)) || !host && ok {
			f.found.Results = appendOnce(f.found.Results, n)
			if ok {
				f.found.Calls = appendOnce(f.found.Calls, c.n)
			}
		}
	}
}

func appendOnce(list []int, n int) []int {
	if slices.Contains(list[max(0, len(list)-64):], n) {
		return list
	}
	return append(list, n)
}

// ToolMatches reports whether name, in lower case, is that of a tool or of its MCP server.
func ToolMatches(tool, name string) bool {
	tool = strings.ToLower(tool)
	if tool == name {
		return true
	}
	rest, ok := strings.CutPrefix(tool, "mcp__")
	server, _, _ := strings.Cut(rest, "__")
	return ok && server == strings.TrimPrefix(name, "mcp__")
}

// NamesHost reports whether a text names a host, in lower case, or a subdomain of it. The name must be a word: neither
// notevil.example nor evil.example.org is evil.example.
func NamesHost(text, host string) bool {
	text = strings.ToLower(text) // may change the length
	for from := 0; ; {
		i := strings.Index(text[from:], host)
		if i < 0 {
			return false
		}
		i += from
		if !endsLabel(text[:i]) && !beginsLabel(text[i+len(host):]) {
			return true
		}
		from = i + 1
	}
}

// endsLabel reports whether s ends in a label of a host name. The letter of an escaped line end is none.
func endsLabel(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	return isLabelRune(r) && !strings.HasSuffix(s[:len(s)-n], `\`)
}

// beginsLabel reports whether s continues the host name before it.
func beginsLabel(s string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimPrefix(s, "."))
	return isLabelRune(r)
}

// isLabelRune reports whether a host name can contain r, also one that is not in ASCII. Quotation marks, dashes and
// malformed bytes end it.
func isLabelRune(r rune) bool {
	return r == '-' || r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r))
}

// countPlaces returns how many messages of a project came from a source.
func countPlaces(ctx context.Context, db *state.DB, p refs.Project, st *state.State, src records.Origin) (int, error) {
	n := 0
	for _, s := range st.Sessions {
		if src.Kind == records.SessionSource {
			if s.ID == src.Name {
				n += s.Now().Scan.Messages
			}
			continue
		}
		found, err := PlacesAt(ctx, db, p, s, s.Now().Original, []Revocation{{Origin: src}})
		if err != nil {
			return n, err
		}
		for _, x := range found {
			if !x.call {
				n++
			}
		}
	}
	return n, nil
}

// Tools returns the tools that sessions of a project called, in lower case, sorted.
func Tools(ctx context.Context, db *state.DB, p refs.Project) ([]string, error) {
	st, err := Outline(ctx, db, p)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, s := range st.Sessions {
		err := toolBlocks(ctx, db, p, s.Now().Original, func(_ int, b transcript.Block) {
			if b.Kind == transcript.ToolUse {
				found[strings.ToLower(b.Name)] = true
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}
