package layers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// hugeValue is the size from which a value of a transcript is not read for deriving.
const hugeValue = transcript.Longest

// stream calls f with the content of an object.
func (m *Memory) stream(ctx context.Context, project refs.Project, h objects.Hash, f func(io.Reader) error) error {
	return m.repo.View(ctx, project, func(tx *refs.Tx) error {
		rc, err := tx.Get(ctx, h)
		if err != nil {
			return err
		}
		defer rc.Close()
		return f(rc)
	})
}

// counted is what the messages of a session are worth, kept in the cache: the plain tokens of what a model
// would read of them. It is extended when the session grows, so each message is counted once.
type counted struct {
	Format   int                `json:"format"`
	Messages []compress.Message `json:"messages"`
	Raw      int                `json:"raw"` // of all messages
	Size     int64              `json:"size"`
	Values   int                `json:"values"`
	LastID   string             `json:"last_id"`
	Open     bool               `json:"open,omitempty"` // a message has begun of which nothing was read yet, only thought
	Lead     bool               `json:"lead,omitempty"` // all there is so far is the client's own, which goes with the first message
}

const countedVersion = 2

func (m *Memory) countedPath(h objects.Hash) string { return m.cachePath("counts", h.String()+".json") }

// readCounted returns what is known of a growth point.
func (m *Memory) readCounted(h objects.Hash) (c counted, ok bool) {
	if ok = readCache(m.countedPath(h), &c) && c.Format == countedVersion; ok {
		m.touch(m.countedPath(h))
	}
	return c, ok
}

// counts returns the counted messages of the session at p.
func (m *Memory) counts(ctx context.Context, project refs.Project, s *Session, p *Point) (counted, error) {
	if c, ok := m.readCounted(p.Original); ok {
		return c, nil
	}
	c := counted{Format: countedVersion}
	chain := s.chain(p)
	for _, q := range slices.Backward(chain) {
		if earlier, ok := m.readCounted(q.Original); ok {
			c = earlier
			break
		}
	}
	err := m.stream(ctx, project, p.Original, func(r io.Reader) error {
		if _, err := io.CopyN(io.Discard, r, c.Size); err != nil {
			return err
		}
		return c.extend(ctx, r, max(1, m.opts.Workers))
	})
	if err != nil {
		return c, fmt.Errorf("count %s: %w", ShortID(s.ID), err)
	}
	c.Size = p.Size
	m.writeCache(m.countedPath(p.Original), c)
	m.noteTokens(project, p.Original, c.Raw)
	return c, nil
}

// countBatch is how many bytes of text are counted at a time.
const countBatch = 4 << 20

// extend counts the messages of r, which begins behind what c has counted.
func (c *counted) extend(ctx context.Context, r io.Reader, workers int) error {
	counter := transcript.Counter{LastID: c.LastID}
	var texts []string
	var of []int // index of the message of each text
	size := 0
	flush := func() {
		for i, n := range countRaw(texts, workers) {
			c.Messages[of[i]].Raw += n
			c.Raw += n
		}
		texts, of, size = texts[:0], of[:0], 0
	}
	base := c.Values
	for v, err := range transcript.Stream(r, hugeValue) {
		if err != nil {
			return err
		}
		c.Values = base + v.N
		if v.Opaque {
			continue
		}
		msg, err := transcript.Decode(v)
		if err != nil {
			continue // an object that is no record: L1 shows it as opaque
		}
		begins := counter.Add(msg)
		c.Open = c.Open || begins
		opens := c.Open && (begins || msg.Type == "assistant") // an answer begins with what was thought, a record of its own
		for text := range transcript.Read(msg) {
			if len(c.Messages) == 0 || opens && !c.Lead {
				c.Messages = append(c.Messages, compress.Message{First: base + v.N})
				c.Lead = !opens
			}
			if opens {
				opens, c.Open, c.Lead = false, false, false
			}
			i := len(c.Messages) - 1
			c.Messages[i].Last = base + v.N
			texts, of, size = append(texts, text), append(of, i), size+len(text)
		}
		if size > countBatch {
			flush()
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	flush()
	c.LastID = counter.LastID
	return nil
}

// countRaw counts plain tokens of texts on several goroutines.
func countRaw(texts []string, workers int) []int {
	out := make([]int, len(texts))
	parallel(len(texts), workers, func(i int) { out[i] = tokens.Raw(texts[i]) })
	return out
}

// Tokens returns the tokens of the session at p, or 0 and false if they have not been counted yet.
func (m *Memory) Tokens(p *Point, known map[objects.Hash]int) (n int, counted bool) {
	raw, counted := known[p.Original]
	return m.counter(p).Scale(raw), counted
}

// TokensOf is Tokens of a session as it is now.
func (m *Memory) TokensOf(p refs.Project, s *Session) (n int, counted bool) {
	return m.Tokens(s.Now(), m.knownTokens(p))
}

// countNow is how many bytes of transcripts are counted as soon as they are added: it takes a few hundredths of a second.
const countNow = 4 << 20

// CountAdded sets the token counts of sessions that were added: of those that have been counted, and of the first short
// ones, which it counts.
func (m *Memory) CountAdded(ctx context.Context, added []Added) error {
	known := map[refs.Project]map[objects.Hash]int{}
	left := int64(countNow)
	for i := range added {
		a := &added[i]
		if known[a.Project.ID] == nil {
			known[a.Project.ID] = m.knownTokens(a.Project.ID)
		}
		p := &Point{Snapshot: a.Now}
		if _, ok := known[a.Project.ID][a.Now.Original]; !ok && a.Commit != "" && a.Now.Size <= left {
			left -= a.Now.Size
			st, err := m.Outline(ctx, a.Project.ID)
			if err != nil {
				return err
			}
			s := st.session(a.Session)
			if s == nil || s.point(a.Now.Original) == nil {
				continue // removed or grown meanwhile
			}
			c, err := m.counts(ctx, a.Project.ID, s, s.point(a.Now.Original))
			if err != nil {
				return err
			}
			known[a.Project.ID][a.Now.Original] = c.Raw
		}
		a.Tokens, a.Counted = m.Tokens(p, known[a.Project.ID])
	}
	return nil
}

// estimate returns the tokens of the session at p, estimated from what the scan measured if they have not been counted.
func (m *Memory) estimate(p *Point, known map[objects.Hash]int) int {
	if n, ok := m.Tokens(p, known); ok {
		return n
	}
	c, s := m.counter(p), p.Snapshot
	if s.Scan.Read > 0 {
		return c.Estimate(s.Scan.Read * 20 / 19) // text and tool calls have 3.8 bytes a token
	}
	return c.Estimate(s.Size / readShare)
}

// readShare is about which part of a transcript's bytes a model reads; the rest is what the client keeps. It holds for
// most within a factor of four: [transcript.Carry] knows better.
const readShare = 5

// counter returns the counter for the model of a session.
func (m *Memory) counter(p *Point) tokens.Counter {
	if m.opts.Model != "" {
		return tokens.For(m.opts.Model)
	}
	return tokens.For(p.Scan.Model)
}

// material is a session, ready to compress.
type material struct {
	stats compress.Stats
	marks []compress.Mark
	input compress.Input
}

// material reads what a compression of the session at p needs, without the calls of tools in some messages.
func (m *Memory) material(ctx context.Context, project refs.Project, s *Session, p *Point, without [][2]int) (material, error) {
	var out material
	type counting struct {
		c   counted
		err error
	}
	done := make(chan counting, 1)
	go func() {
		c, err := m.counts(ctx, project, s, p)
		done <- counting{c, err}
	}()
	out.input.Aside = m.putAside()
	items, err := m.itemsWithout(ctx, project, s, p, without, out.input.Aside)
	counts := <-done
	if err := errors.Join(err, counts.err); err != nil {
		return out, err
	}
	out.stats.Messages = counts.c.Messages
	for _, it := range items {
		if it.Kind == compress.User || it.Kind == compress.Script {
			out.stats.Typed = append(out.stats.Typed, it.N)
		}
	}
	out.input.Items, out.input.Output = items, m.toolOutput(ctx, project, p, without)
	out.marks = s.marks(out.input, p)
	return out, nil
}

// items returns the L1 of the session as a compression sees it.
func (m *Memory) items(ctx context.Context, project refs.Project, s *Session, p *Point) ([]compress.Item, error) {
	return m.itemsWithout(ctx, project, s, p, nil, nil)
}

func (m *Memory) itemsWithout(ctx context.Context, project refs.Project, s *Session, p *Point, without [][2]int, aside *compress.Aside) ([]compress.Item, error) {
	l1, err := m.l1(ctx, project, p.Original, refine.Full)
	if err != nil {
		return nil, err
	}
	defer l1.Close()
	echo := map[int]bool{}
	for _, q := range s.chain(p) {
		for _, n := range q.Echo {
			echo[n] = true
		}
	}
	return compress.Items(withoutEntries(refine.Entries(l1), without), func(n int) bool { return echo[n] }, aside)
}

// putAside is where a compression puts texts that are too many to hold: a file of the cache without a name.
func (m *Memory) putAside() *compress.Aside {
	return &compress.Aside{Open: func() (compress.File, error) {
		dir := m.cachePath("l1", "")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		f, err := os.CreateTemp(dir, ".tmp-*")
		if err != nil {
			return nil, err
		}
		os.Remove(f.Name()) // else it is evicted; f is closed when nobody can read it any more
		return f, nil
	}}
}

// toolOutput yields what tools returned, for versions with room for it.
func (m *Memory) toolOutput(ctx context.Context, project refs.Project, p *Point, without [][2]int) func(from, to int) iter.Seq2[compress.Item, error] {
	return func(from, to int) iter.Seq2[compress.Item, error] {
		return func(yield func(compress.Item, error) bool) {
			for msg, err := range m.messages(ctx, project, p, from, to, without) {
				if err != nil {
					yield(compress.Item{}, err)
					return
				}
				for _, b := range msg.Blocks {
					if b.Kind == transcript.ToolResult && !yield(compress.Item{N: msg.N, Kind: compress.Output, Text: b.Result()}, nil) {
						return
					}
				}
			}
		}
	}
}

// messages yields the records of a growth point from one number to another that can be read, but for those of without.
func (m *Memory) messages(ctx context.Context, project refs.Project, p *Point, from, to int, without [][2]int) iter.Seq2[transcript.Message, error] {
	return func(yield func(transcript.Message, error) bool) {
		err := m.stream(ctx, project, p.Original, func(r io.Reader) error {
			for v, err := range transcript.Stream(r, hugeValue) {
				if err != nil {
					return err
				}
				if v.N > to {
					return nil
				}
				if v.N < from || v.Opaque || !outside(v.N, without) {
					continue
				}
				msg, err := transcript.Decode(v)
				if err != nil {
					continue // no record
				}
				if !yield(msg, nil) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(transcript.Message{}, err)
		}
	}
}
