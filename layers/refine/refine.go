// Package refine makes L1 of a session: the conversation and the actions, without the bookkeeping of the client.
//
// L1 is JSON Lines, one [Entry] a line, in file order. It is an allow-list, because four fifths of a transcript are
// copies (of tool results, progress, snapshots), and clients add unknown kinds of records. Every entry names its
// message, so that omitted text can be looked up. L1 has:
//
//   - Text that the user typed and the model wrote, always whole, also in sidechains. Role "user" is only the user's
//     words: prompts, answers in dialogs with their questions, and the reasons of refusals; in a sidechain, which Side
//     marks, it is the prompt of the agent that started it.
//   - One entry for each call of a tool, at the place of the call, with its result merged in: the name, the target, the
//     command with its exit status, the changed lines of an edit, the symbols that an edit defines or uses, the first
//     lines of an error, the names of failed tests. The output of a success is omitted. The report of a subagent is
//     kept up to 2,000 bytes, also that of one in the background, which has its own entry. So has a result without a
//     call.
//   - The summary of a compaction, whole, and the boundary before it, as role "summary".
//   - Text that the client wrote as the user (commands, notices, plans that it sends back, meta text) or that came from
//     other sessions, teammates and channels, titles, names of attached files and links to pull requests, as role
//     "note"; meta text and output are cut.
//   - Unreadable values, as role "opaque" with their size, so that nothing is dropped silently.
//
// What the user withdrew is marked as Rewound, and [Entries] leaves it out. Thinking is omitted. Diffs have no context lines; Target has the line number.
// [Full] keeps diffs, commands and plans whole; [Lean] cuts them.
package refine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/tidwall/gjson"
)

// Version is the version of the step. It changes when the same bytes give other entries.
const Version = 25

// A Mode selects how much of a tool call is kept.
type Mode int

const (
	Full Mode = iota // commands and diffs whole
	Lean             // cut to 300 bytes, errors to 200
)

// Stats are the results of the refinement of a session.
type Stats struct {
	Entries int `json:"entries"`
	Opaque  int `json:"opaque"` // values that are malformed or too large

	Forked bool              `json:"-"`  // the user may have withdrawn turns; see [transcript.Rewound]
	Late   []transcript.Said `json:"-"`  // of the user, emitted after later messages
	In     int64             `json:"in"` // bytes
	Out    int64             `json:"out"`
}

// hugeLimit is the size above which a value is not parsed.
const hugeLimit = transcript.Longest

// Limits of the entries that wait for the result of the first of them.
const (
	openLimit = 4096    // entries
	heldLimit = 8 << 20 // bytes
)

// Stream reads a session from src and writes its L1 to w, in bounded memory. The same bytes give the same L1.
// rewound and late are those of [Each].
func Stream(src io.Reader, mode Mode, rewound transcript.Spans, late []transcript.Said, w io.Writer) (Stats, error) {
	out := bufio.NewWriterSize(w, 64<<10)
	var line bytes.Buffer
	write := json.NewEncoder(&line)
	write.SetEscapeHTML(false)
	stats, err := Each(src, mode, rewound, late, func(e *Entry) (int, error) {
		line.Reset()
		if err := write.Encode(e); err != nil {
			return 0, err
		}
		return out.Write(line.Bytes())
	})
	if err == nil {
		if err = out.Flush(); err != nil {
			err = fmt.Errorf("write L1: %w", err)
		}
	}
	return stats, err
}

// Each reads a session from src and calls emit with its entries in order. An entry is only valid during the call.
// emit returns the number of bytes it wrote. Its first error ends the session and is returned.
//
// The entries are in the order of their messages, except that text of the user which the client lost may be recognised
// very much later; the Stats name it. A pass with this as late emits it in order. rewound are the messages that the user withdrew,
// [transcript.Rewound] of the session; it is empty unless the Stats of a pass without it say that the session is Forked.
func Each(src io.Reader, mode Mode, rewound transcript.Spans, late []transcript.Said,
	emit func(*Entry) (int, error)) (Stats, error) {
	r := newRefiner(mode, emit)
	r.rewound, r.late = rewound, late
	in := &counter{r: src}
	for v, err := range transcript.Stream(in, hugeLimit) {
		if err != nil {
			return r.stats, fmt.Errorf("read session: %w", err)
		}
		if r.value(v); r.err != nil {
			break
		}
	}
	return r.finish(in.n)
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// A refiner converts values to entries. Entries wait in order for the results of the calls before them, and for a prompt
// in the queue of the client, which belongs before them if the client lost it.
type refiner struct {
	mode  Mode
	emit  func(*Entry) (int, error)
	stats Stats
	err   error
	queue transcript.Queue
	open  []*entry          // in order; the first one waits for its result
	held  int               // their size in bytes
	calls map[string]*entry // calls without a result, by id
	m     transcript.Message
	agent bool // the file of a subagent: its first message is in a sidechain
	begun bool
	cwd   string // last known
	first string // the first one
	root  string // to which paths are relative, see [refiner.move]
	tip   string // uuid of the last record in the tree of turns

	rewound transcript.Spans
	late    []transcript.Said
	emitted int // number of the last emitted entry

	todo     map[string]string // state of each item of the list the model keeps
	todoSize int               // its size in bytes

	failedTests map[string]bool // that any command of the session saw fail
	background  map[string]task // commands that run in the background, by the client's id
}

// An entry is an Entry that may wait for its result.
type entry struct {
	Entry
	id   string
	line string // Cmd, whole
	wait bool
	size int // in held
}

func newRefiner(mode Mode, emit func(*Entry) (int, error)) *refiner {
	return &refiner{mode: mode, emit: emit, calls: map[string]*entry{}, todo: map[string]string{}, failedTests: map[string]bool{},
		background: map[string]task{}}
}

// value handles the next value.
func (r *refiner) value(v transcript.Value) {
	if v.Opaque || v.Size > hugeLimit {
		r.opaque(v)
		return
	}
	m, err := transcript.Skim(v)
	if err != nil {
		r.opaque(v)
		return
	}
	if m.Cwd == "" {
		m.Cwd = r.cwd // other agents store it in separate values
	}
	r.queue.Command.Mark(&m)
	r.m, r.cwd = m, m.Cwd
	r.move()
	r.stats.Forked = r.stats.Forked || m.Forks(r.tip)
	if m.InTree() {
		r.tip = m.UUID
	}
	if !r.begun && m.Message != nil {
		r.begun, r.agent = true, m.Sidechain
	}
	for _, s := range r.late {
		if s.N == m.N {
			r.insert(len(r.open), saidEntry(s))
		}
	}
	switch m.Type {
	case "user":
		r.user()
	case "assistant":
		r.assistant()
	case "attachment":
		r.attachment()
	case "queue-operation":
		r.said(r.queue.Said(m))
	case "system":
		r.system()
	case "forgotten":
		if gjson.GetBytes(m.Raw, "of").String() == "prompt" {
			r.add(Entry{Role: "note", Name: "forgotten"})
		}
	case "summary", "custom-title":
		r.add(Entry{Role: "note", Name: "title", Said: m.Title})
	case "pr-link":
		r.add(Entry{Role: "note", Name: "pull request", Said: gjson.GetBytes(m.Raw, "prUrl").String()})
	}
	if r.held > heldLimit {
		r.flush(0)
	}
	r.flush(openLimit)
}

func (r *refiner) opaque(v transcript.Value) {
	r.stats.Opaque++
	r.m = transcript.Message{N: v.N}
	r.add(Entry{Role: "opaque", Bytes: v.Size})
}

// add appends an entry of the current message.
func (r *refiner) add(e Entry) *entry {
	e.N, e.TS, e.UUID = r.m.N, Seconds(r.m.TS), r.m.UUID
	e.Side = r.m.Sidechain && (!r.agent || e.Role == "user")
	e.Script = e.Script || e.Role == "user" && !e.Side && r.queue.Script
	return r.insert(len(r.open), e)
}

// insert adds an entry before the open entry i.
func (r *refiner) insert(i int, e Entry) *entry {
	e.Rewound = r.rewound.Has(e.N)
	x := &entry{Entry: e}
	r.open = slices.Insert(r.open, i, x)
	r.hold(x)
	return x
}

// said adds what the user said, except at a prompt of the current message. Texts that the client lost belong to earlier
// messages.
func (r *refiner) said(all []transcript.Said) {
	for _, s := range all {
		if slices.ContainsFunc(r.late, func(x transcript.Said) bool { return x.N == s.N && x.Text == s.Text }) {
			continue // emitted in its place
		}
		if s.N < r.emitted {
			r.stats.Late = append(r.stats.Late, s)
		}
		e := saidEntry(s)
		if s.N == r.m.N {
			e.UUID = r.m.UUID
		}
		call := r.calls[s.ToolID]
		switch {
		case s.ToolID == "":
		case s.Refusal:
			e.Name = "refusal"
			if call != nil {
				e.Target = cut(strings.TrimSpace(oneLine(call.Name+" "+call.Target+" "+call.Cmd)), noteLimit)
			}
		default:
			e.Name = "answer"
			for _, a := range s.Answers {
				e.Dialog = append(e.Dialog, Answer(a))
			}
			r.drop(call)
		}
		i := len(r.open)
		for i > 0 && r.open[i-1].N > s.N {
			i--
		}
		r.insert(i, e)
	}
}

func saidEntry(s transcript.Said) Entry {
	return Entry{N: s.N, At: s.At, TS: Seconds(s.TS), Role: "user", Said: s.Text, Script: s.Script}
}

// drop removes the entry of a call, which another entry replaces.
func (r *refiner) drop(call *entry) {
	i := slices.Index(r.open, call)
	if call == nil || i < 0 {
		return
	}
	delete(r.calls, call.id)
	r.held -= call.size
	r.open = slices.Delete(r.open, i, i+1)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// hold updates the size of x in held.
func (r *refiner) hold(x *entry) {
	r.held -= x.size
	x.size = len(x.UUID) + len(x.TS) + len(x.Name) + len(x.Said) + len(x.Target) + len(x.Cmd) + len(x.Diff) + len(x.Result)
	r.held += x.size
}

// flush emits the entries that wait for nothing, and the first ones if more than limit wait.
func (r *refiner) flush(limit int) {
	done := 0
	queued := r.queue.Pending()
	for _, x := range r.open {
		if (x.wait || queued > 0 && x.N > queued) && len(r.open)-done <= limit {
			break
		}
		if x.wait {
			delete(r.calls, x.id)
		}
		if r.err == nil {
			var n int
			n, r.err = r.emit(&x.Entry)
			r.stats.Out += int64(n)
			r.stats.Entries++
			r.emitted = x.N
		}
		r.held -= x.size
		done++
	}
	clear(r.open[:done])
	if r.open = r.open[done:]; len(r.open) == 0 {
		r.open = nil
	}
}

func (r *refiner) finish(in int64) (Stats, error) {
	r.said(r.queue.Rest())
	r.flush(-1)
	r.stats.In = in
	if r.err != nil {
		return r.stats, fmt.Errorf("write L1: %w", r.err)
	}
	return r.stats, nil
}

// Seconds removes the fraction of a second from a timestamp: "2026-01-15T10:00:00Z". Other texts do not change.
func Seconds(ts string) string {
	if len(ts) == 24 && ts[19] == '.' && ts[23] == 'Z' {
		return ts[:19] + "Z"
	}
	return ts
}
