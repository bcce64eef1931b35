package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
)

// messagesPerPage is the number of messages on a page of a transcript.
const messagesPerPage = 200

// A transcriptBody is one page of a refined transcript. Each message links to its complete JSON.
type transcriptBody struct {
	Name     string
	Turns    []turn
	Filter   url.Values
	From, To int
	Values   int // number of messages in the session
	Previous string
	Next     string
	Prompts  []prompt
	Roles    []string
	Thinking bool   // thinking is shown
	Toggle   string // URL of the page with or without thinking
	Anchor   string // prefix of the anchors of messages
	Inline   bool   // the page is embedded in that of the parent session
}

// A turn is one entry of a page.
type turn struct {
	refine.Entry
	First  bool // the first entry of its message, which has the permalink
	Marks  []state.Keepit
	Diff   []diffLine
	Hit    bool
	Agent  string // the session of the subagent, if it is in memory
	Tokens int    // of the message, in its first turn
}

// A diffLine is a line of a diff with its class.
type diffLine struct{ Class, Text string }

// A prompt is an entry of the navigator.
type prompt struct {
	N    int
	Text string
	Link string
}

// A pager collects the entries of one page from the lines of a refined transcript.
type pager struct {
	from    int
	most    int
	want    func(refine.Entry) bool
	entries []refine.Entry
	prompts []refine.Entry
	numbers int // number of messages on the page
	last    int
	before  []int // numbers of the matching messages before the page
	next    int
}

// A lineWriter calls line for each complete line that is written to it, without its newline. The line is only valid
// during the call.
type lineWriter struct {
	line func([]byte) error
	rest []byte
}

func (w *lineWriter) Write(b []byte) (int, error) {
	n := len(b)
	for {
		line, after, ok := bytes.Cut(b, []byte{'\n'})
		if !ok {
			break
		}
		if len(w.rest) > 0 {
			line = append(w.rest, line...)
			w.rest = line[:0]
		}
		if err := w.line(line); err != nil {
			return 0, err
		}
		b = after
	}
	w.rest = append(w.rest, b...)
	return n, nil
}

// line adds an entry. It decodes only the entries that the page or the navigator needs.
func (p *pager) line(b []byte) error {
	n, role := peek(b)
	if n == 0 {
		return nil
	}
	inside := n >= p.from && (p.numbers < p.most || n == p.last)
	if !inside && role != "user" && p.want == nil {
		p.outside(n)
		return nil
	}
	var e refine.Entry
	if err := json.Unmarshal(b, &e); err != nil {
		return fmt.Errorf("entry of message %d: %w", n, err)
	}
	if e.Typed() && !e.Side && !e.Rewound {
		p.prompts = append(p.prompts, refine.Entry{N: e.N, Said: tokens.OneLine(e.Said, 80)})
	}
	if p.want != nil && !p.want(e) {
		return nil
	}
	if !inside {
		p.outside(n)
		return nil
	}
	if n != p.last {
		p.numbers++
		p.last = n
	}
	p.entries = append(p.entries, e)
	return nil
}

// outside records where the previous and the next page begin.
func (p *pager) outside(n int) {
	switch {
	case n < p.from && (len(p.before) == 0 || p.before[len(p.before)-1] != n):
		p.before = append(p.before, n)
	case n >= p.from && p.next == 0 && n != p.last:
		p.next = n
	}
}

// peek reads the number and role of an entry, its first members, without decoding it.
func peek(b []byte) (n int, role string) {
	b, ok := bytes.CutPrefix(b, []byte(`{"n":`))
	if !ok {
		return 0, ""
	}
	i := 0
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		n = n*10 + int(b[i]-'0')
		i++
	}
	head := b[i:min(len(b), i+80)]
	if _, after, ok := bytes.Cut(head, []byte(`"role":"`)); ok {
		name, _, _ := bytes.Cut(after, []byte(`"`))
		role = string(name)
	}
	return n, role
}

// transcript returns the page of a session's messages that a request asks for.
func (s *Server) transcript(ctx context.Context, rev state.Rev, f url.Values) (*transcriptBody, error) {
	from, err := strconv.Atoi(f.Get("from"))
	if err != nil || from < 1 {
		from = 1
	}
	pg := &pager{from: from, most: messagesPerPage, want: entryFilter(f)}
	l1 := rev
	l1.Kind = state.IsL1
	if err := checkout.Write(ctx, s.Memory.DB, l1, checkout.JSONL, &lineWriter{line: pg.line}); err != nil {
		return nil, err
	}
	b := &transcriptBody{Name: rev.Session.ID, Filter: f,
		Values: rev.Session.Now().Scan.Values, Roles: []string{"user", "script", "assistant", "plan", "agent", "tool", "summary", "note"}}
	if b.Turns, err = s.turns(ctx, rev, pg.entries, f.Get("q")); err != nil {
		return nil, err
	}
	if n := len(pg.entries); n > 0 {
		b.From, b.To = pg.entries[0].N, pg.entries[n-1].N
	}
	b.Anchor, b.Inline, b.Thinking = "m", f.Get("part") == "turns", f.Get("thinking") != ""
	if b.Inline {
		b.Anchor = records.ShortID(rev.Session.ID) + "-m"
	}
	if err := s.addTokens(ctx, rev, b.Turns); err != nil {
		return nil, err
	}
	if err := s.addRaw(ctx, rev, b, pg.next); err != nil {
		return nil, err
	}
	link := func(n int) string {
		q := url.Values{}
		for _, k := range []string{"role", "q", "tool", "thinking"} {
			q[k] = api.NonEmpty(f[k])
		}
		q.Set("from", strconv.Itoa(n))
		return "?" + q.Encode()
	}
	if n := len(pg.before); n > 0 {
		b.Previous = link(pg.before[max(0, n-messagesPerPage)])
	}
	if pg.next > 0 {
		b.Next = link(pg.next)
	}
	b.Toggle = b.toggle(link)
	for _, e := range pg.prompts {
		to := fmt.Sprintf("#m%d", e.N)
		if e.N < b.From || e.N > b.To {
			to = "?from=" + strconv.Itoa(e.N) + to
		}
		b.Prompts = append(b.Prompts, prompt{e.N, e.Said, to})
	}
	return b, nil
}

// entryFilter returns the filter of a request, nil for none.
func entryFilter(f url.Values) func(refine.Entry) bool {
	roles, text, tool := api.NonEmpty(f["role"]), strings.ToLower(strings.TrimSpace(f.Get("q"))),
		strings.ToLower(strings.TrimSpace(f.Get("tool")))
	if len(roles) == 0 && text == "" && tool == "" {
		return nil
	}
	return func(e refine.Entry) bool {
		return (len(roles) == 0 || slices.Contains(roles, e.Author())) &&
			(text == "" || strings.Contains(strings.ToLower(e.Text()), text)) &&
			(tool == "" || e.Role == "tool" && strings.ToLower(e.Name) == tool)
	}
}

// turns adds markers and split diffs to the entries of a page.
func (s *Server) turns(ctx context.Context, rev state.Rev, entries []refine.Entry, q string) ([]turn, error) {
	marks := map[int][]state.Keepit{}
	if len(rev.Session.Markers()) > 0 || len(rev.Session.Overrides) > 0 {
		all, err := markers.Keepits(ctx, s.Memory.DB, rev)
		if err != nil {
			return nil, err
		}
		for _, k := range all {
			marks[k.Mark.Message] = append(marks[k.Mark.Message], k)
		}
	}
	var out []turn
	for i, e := range entries {
		t := turn{Entry: e, First: i == 0 || entries[i-1].N != e.N, Hit: strings.TrimSpace(q) != ""}
		if e.Role == "user" {
			t.Marks = marks[e.N]
		}
		for line := range strings.SplitSeq(e.Diff, "\n") {
			class := ""
			switch {
			case strings.HasPrefix(line, "+"):
				class = "plus"
			case strings.HasPrefix(line, "-"):
				class = "minus"
			case strings.HasPrefix(line, "@@"):
				class = "at"
			}
			if e.Diff != "" {
				t.Diff = append(t.Diff, diffLine{class, line})
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// A rawBody is the JSON of one message, with the versions that contain text from it.
type rawBody struct {
	Name string
	N    int
	JSON string
	Kept []keptIn
	Prev int
	Next int
}

// A keptIn contains the lines of a version that come from a message.
type keptIn struct {
	Version string
	Lines   []provenance.BlameLine
}

// maxRawBytes is the maximum number of bytes shown of a message.
const maxRawBytes = 512 << 10

// message shows the JSON of one message, and the versions that contain text from it.
func (s *Server) message(_ http.ResponseWriter, r *http.Request) (string, page, error) {
	ctx := r.Context()
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || n < 1 {
		return "", page{}, api.NoSuch("message", r.PathValue("n"))
	}
	rev, p, err := s.sessionPage(ctx, r.PathValue("session"), "Message "+r.PathValue("n"))
	if err != nil {
		return "", page{}, err
	}
	if n > rev.Session.Now().Scan.Values {
		return "", page{}, api.NoSuch("message", r.PathValue("n"))
	}
	one := rev
	one.Kind, one.From, one.To = state.IsMessages, n, n
	var raw bytes.Buffer
	if err := checkout.Write(ctx, s.Memory.DB, one, checkout.JSONL, &limitedWriter{&raw, maxRawBytes}); err != nil {
		return "", page{}, err
	}
	b := rawBody{Name: rev.Session.ID, N: n, JSON: raw.String(), Prev: n - 1, Next: n + 1}
	if n == rev.Session.Now().Scan.Values {
		b.Next = 0
	}
	var wide bytes.Buffer
	if json.Indent(&wide, raw.Bytes(), "", "  ") == nil { // truncated JSON is shown as it is
		b.JSON = wide.String()
	}
	if b.Kept, err = s.keptIn(ctx, one); err != nil {
		return "", page{}, err
	}
	p.Body = b
	return "message", p, nil
}

// keptIn returns the lines of the versions of a session that come from messages.
func (s *Server) keptIn(ctx context.Context, rev state.Rev) ([]keptIn, error) {
	rows, err := s.versionRows(ctx, rev)
	if err != nil {
		return nil, err
	}
	var out []keptIn
	for _, v := range rows {
		of, err := revision.RevOf(ctx, s.Memory.DB, rev.Project, v.Version, nil)
		if err != nil {
			return nil, err
		}
		lines, err := provenance.Blame(ctx, s.Memory.DB, of)
		if err != nil {
			return nil, err
		}
		out = append(out, keptIn{v.Name(), provenance.FilterBlame(lines, rev)})
	}
	return out, nil
}

// A limitedWriter writes the first left bytes to w and drops the rest.
type limitedWriter struct {
	w    io.Writer
	left int
}

func (l *limitedWriter) Write(b []byte) (int, error) {
	take := min(l.left, len(b))
	l.left -= take
	if _, err := l.w.Write(b[:take]); err != nil {
		return 0, err
	}
	return len(b), nil
}

// sessionFile responds with the original or the conversation as a file.
func (s *Server) sessionFile(w http.ResponseWriter, r *http.Request, rev state.Rev) (string, page, error) {
	format := r.URL.Query().Get("format")
	if format != "jsonl" && format != "text" {
		return "", page{}, api.BadRequest("format is jsonl or text")
	}
	name := api.FileName(rev.Session.ID) + map[string]string{"jsonl": ".jsonl", "text": ".txt"}[format]
	return "", page{}, s.stream(w, r, rev, checkout.Format(format), name)
}

// stream responds with a file while it is read. An error after the first byte aborts the response.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, rev state.Rev, f checkout.Format, name string) error {
	if err := trust.MayUse(r.Context(), s.Memory.DB, rev); err != nil {
		return err
	}
	out := &headerWriter{w: w, head: func() { api.Download(w, "application/octet-stream", name) }}
	err := checkout.Write(r.Context(), s.Memory.DB, rev, f, out)
	if err != nil && out.begun {
		panic(http.ErrAbortHandler) // otherwise the file looks complete
	}
	return err
}

// A headerWriter calls head before the first byte, so that an earlier error can still set the status.
type headerWriter struct {
	w     io.Writer
	head  func()
	begun bool
}

func (l *headerWriter) Write(b []byte) (int, error) {
	if !l.begun {
		l.head()
		l.begun = true
	}
	return l.w.Write(b)
}
