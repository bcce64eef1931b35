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

// entries returns the refined transcript of a session, with what the user withdrew.
func (s *Server) entries(ctx context.Context, rev state.Rev) (out []refine.Entry, err error) {
	rev.Kind = state.IsL1
	var l1 bytes.Buffer
	if err := checkout.Write(ctx, s.Memory.DB, rev, checkout.JSONL, &l1); err != nil {
		return nil, err
	}
	for line := range bytes.Lines(l1.Bytes()) {
		var e refine.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("entry %d of session %s: %w", len(out)+1, records.ShortID(rev.Session.ID), err)
		}
		out = append(out, e)
	}
	return out, nil
}

// A pager is a page of the entries that a request asks for, and the messages with which the adjacent pages begin, or 0.
type pager struct {
	entries        []refine.Entry
	previous, next int
}

// pageOf returns the page of at most most messages that begins with the first message from "from" on.
func pageOf(all []refine.Entry, from, most int) (p pager) {
	var numbers []int
	for _, e := range all {
		if n := len(numbers); n == 0 || numbers[n-1] != e.N {
			numbers = append(numbers, e.N)
		}
	}
	first := 0
	for first < len(numbers) && numbers[first] < from {
		first++
	}
	last := min(first+most, len(numbers))
	if first > 0 {
		p.previous = numbers[max(0, first-most)]
	}
	if last < len(numbers) {
		p.next = numbers[last]
	}
	for _, e := range all {
		if e.N >= from && (p.next == 0 || e.N < p.next) {
			p.entries = append(p.entries, e)
		}
	}
	return p
}

// transcript returns the page of a session's messages that a request asks for.
func (s *Server) transcript(ctx context.Context, rev state.Rev, f url.Values) (*transcriptBody, error) {
	from, err := strconv.Atoi(f.Get("from"))
	if err != nil || from < 1 {
		from = 1
	}
	all, err := s.entries(ctx, rev)
	if err != nil {
		return nil, err
	}
	wanted := all
	if want := entryFilter(f); want != nil {
		wanted = slices.DeleteFunc(slices.Clone(all), func(e refine.Entry) bool { return !want(e) })
	}
	pg := pageOf(wanted, from, messagesPerPage)
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
	if pg.previous > 0 {
		b.Previous = link(pg.previous)
	}
	if pg.next > 0 {
		b.Next = link(pg.next)
	}
	b.Toggle = b.toggle(link)
	for _, e := range all {
		if !e.Typed() || e.Side || e.Rewound {
			continue
		}
		to := fmt.Sprintf("#m%d", e.N)
		if e.N < b.From || e.N > b.To {
			to = "?from=" + strconv.Itoa(e.N) + to
		}
		b.Prompts = append(b.Prompts, prompt{e.N, tokens.OneLine(e.Said, 80), to})
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
			if e.Diff != "" {
				t.Diff = append(t.Diff, diffLine{differenceClass(line), line})
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// A rawBody is one message as text and as JSON, with the versions that contain text from it.
type rawBody struct {
	Name string
	N    int
	Text string
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

// message shows one message, its JSON, and the versions that contain text from it.
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
	var raw, text bytes.Buffer
	for format, to := range map[checkout.Format]*bytes.Buffer{checkout.JSONL: &raw, checkout.Text: &text} {
		if err := checkout.Write(ctx, s.Memory.DB, one, format, &limitedWriter{to, maxRawBytes}); err != nil {
			return "", page{}, err
		}
	}
	b := rawBody{Name: rev.Session.ID, N: n, JSON: raw.String(), Text: text.String(), Prev: n - 1, Next: n + 1}
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
