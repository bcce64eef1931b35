// Package refine makes L1 of a session: what was said and done, without what the client wrote around it.
//
// L1 is JSON Lines, one [Entry] a line, in file order. It keeps by allow-list, because four fifths of a
// transcript are copies (the client's own copy of every tool result, progress, snapshots) and tomorrow's client adds
// kinds of records that nobody here knows. Every entry names the message that it comes from, so whatever L1
// leaves out can be looked up. What is kept:
//
//   - What the user typed and what the model answered, whole and always, in sidechains too. Role "user" is typed text
//     and nothing else (in a sidechain it is the prompt of the agent that started it; Side tells).
//   - One entry for each call of a tool, at the place of the call, with its result merged in: name, target, the command
//
// with its exit status, the changed lines of an edit, the symbols that an edit defines or touches, the first
// lines of an
// error, the names of tests that failed. Not the output of what went well. A result without a call gets its own
// entry.
// What the user said in a result (an answer, a refusal with a reason) is kept whole, so is the report of a
// subagent.
//   - A compact summary, whole, and the boundary before it, as role "summary": a model wrote it, and it repeats.
//   - What the client wrote in the user's name (commands, notices, meta text), as role "note", cut short; titles,
//     attached file names and links to pull requests too.
//   - What cannot be read, as role "opaque" with its size, so that nothing is dropped in silence.
//
// Thinking is left out. Diffs have no context lines: the lines that change, and the line number in Target.
// [Full] keeps diffs, commands and plans whole; [Lean] cuts them.
package refine

import (
	"bufio"
	"fmt"
	"io"

	"github.com/memvcs/mem/layers/transcript"
)

// Version is the version of the step: it changes when the same bytes give other entries.
const Version = 4

// A Mode says how much of a tool call is kept.
type Mode int

const (
	Full Mode = iota // commands and diffs whole
	Lean             // cut to 300 bytes, errors to 200
)

// Stats is what became of a session.
type Stats struct {
	Entries int   `json:"entries"`
	Opaque  int   `json:"opaque"` // values that could not be read, or are too large to be
	In      int64 `json:"in"`     // bytes
	Out     int64 `json:"out"`
}

// hugeLimit is the size above which a value is not read.
const hugeLimit = transcript.Longest

// openLimit and heldLimit are how many entries, of how many bytes, wait at most for the result of the first of them.
const (
	openLimit = 4096
	heldLimit = 8 << 20
)

// Stream writes the L1 of the session that is read from src to w, in little memory. The same bytes give the same L1.
func Stream(src io.Reader, mode Mode, w io.Writer) (Stats, error) {
	out := bufio.NewWriterSize(w, 64<<10)
	var buf []byte
	stats, err := Each(src, mode, func(e *Entry) (int, error) {
		buf = append(e.AppendJSON(buf[:0]), '\n')
		return out.Write(buf)
	})
	if err == nil {
		if err = out.Flush(); err != nil {
			err = fmt.Errorf("write L1: %w", err)
		}
	}
	return stats, err
}

// Each calls emit with the entries of the session that is read from src, in their order. An entry is only good
// until emit returns, which says how many bytes it wrote. An error of emit is returned at the end.
func Each(src io.Reader, mode Mode, emit func(*Entry) (int, error)) (Stats, error) {
	r := newRefiner(mode, emit)
	in := &counter{r: src}
	for v, err := range transcript.Stream(in, hugeLimit) {
		if err != nil {
			return r.stats, fmt.Errorf("read session: %w", err)
		}
		r.value(v)
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

// A refiner turns values into entries. Entries wait in order until the results of the calls before them are in.
type refiner struct {
	mode  Mode
	emit  func(*Entry) (int, error)
	stats Stats
	err   error
	queue transcript.Queue
	open  []*entry          // in order; the first waits for its result
	held  int               // bytes of them, about
	calls map[string]*entry // calls without a result, by id
	todo  map[string]string // state of each item of the list the model keeps
	m     transcript.Message
	agent bool // the first message is of a sidechain: this is a subagent's own file
	begun bool
	cwd   string // that was named last

	plan    string // the last one proposed
	written string // what the last edit put into a file
}

// An entry is an Entry that may still wait for its result.
type entry struct {
	Entry
	id   string
	wait bool
}

func newRefiner(mode Mode, emit func(*Entry) (int, error)) *refiner {
	return &refiner{mode: mode, emit: emit, calls: map[string]*entry{}, todo: map[string]string{}}
}

// value takes the next value.
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
		m.Cwd = r.cwd // other agents name it in values of their own
	}
	r.m, r.cwd = m, m.Cwd
	if !r.begun && m.Message != nil {
		r.begun, r.agent = true, m.Sidechain
	}
	switch m.Type {
	case "user":
		r.user()
	case "assistant":
		r.assistant()
	case "attachment":
		r.attachment()
	case "queue-operation":
		if text, ok := r.queue.Typed(m); ok {
			r.add(Entry{Role: "user", Said: text})
		}
	case "system":
		r.system()
	case "summary", "custom-title":
		r.add(Entry{Role: "note", Name: "title", Said: m.Title})
	case "pr-link":
		r.add(Entry{Role: "note", Name: "pull request", Said: member(m.Raw, "prUrl")})
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

// add appends an entry that comes from the current message.
func (r *refiner) add(e Entry) *entry {
	e.N, e.TS, e.UUID = r.m.N, Seconds(r.m.TS), r.m.UUID
	e.Side = r.m.Sidechain && (!r.agent || e.Role == "user")
	e.Script = e.Role == "user" && !e.Side && r.queue.Script
	x := &entry{Entry: e}
	r.open = append(r.open, x)
	r.held += len(e.Said) + len(e.Target) + len(e.Cmd) + len(e.Diff)
	return x
}

// flush writes the entries that wait for nothing, and the first ones if more than limit wait.
func (r *refiner) flush(limit int) {
	done := 0
	for _, x := range r.open {
		if x.wait && len(r.open)-done <= limit {
			break
		}
		if x.wait {
			delete(r.calls, x.id)
		}
		n, err := r.emit(&x.Entry)
		r.stats.Out += int64(n)
		r.stats.Entries++
		if r.err == nil {
			r.err = err
		}
		done++
	}
	clear(r.open[:done])
	if r.open = r.open[done:]; len(r.open) == 0 {
		r.open, r.held = nil, 0
	}
}

func (r *refiner) finish(in int64) (Stats, error) {
	r.flush(-1)
	r.stats.In = in
	if r.err != nil {
		return r.stats, fmt.Errorf("write L1: %w", r.err)
	}
	return r.stats, nil
}

// Seconds cuts the fraction of a second out of a timestamp of a transcript, as entries have it: "2026-01-15T10:00:00Z".
// Other texts stay as they are.
func Seconds(ts string) string {
	if len(ts) == 24 && ts[19] == '.' && ts[23] == 'Z' {
		return ts[:19] + "Z"
	}
	return ts
}
