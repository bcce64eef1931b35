package markers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A Count is the size of a text. Tokens are an estimate by Method.
type Count struct {
	Tokens   int
	Method   string
	Messages int // 0 for plain text
	Bytes    int64
}

// CountBytes counts a transcript, of which only text that a model reads counts as tokens, or any other text. model is
// used if a transcript names no model; "" is the newest.
func CountBytes(ctx context.Context, b []byte, model string, workers int) (Count, error) {
	if trimmed := bytes.TrimSpace(b); len(trimmed) > 0 && trimmed[0] == '{' {
		c := Counted{}
		if err := c.Extend(ctx, bytes.NewReader(b), max(1, workers)); err != nil {
			return Count{}, err
		}
		if len(c.Messages) > 0 {
			found := scanned(b)
			if model == "" {
				model = found.Model
			}
			by := tokens.For(model)
			return Count{by.Scale(c.Raw), by.ID(), found.Messages, int64(len(b))}, nil
		}
	}
	by := tokens.For(model)
	return Count{Tokens: by.Count(string(b)), Method: by.ID(), Bytes: int64(len(b))}, nil
}

func scanned(b []byte) transcript.Summary {
	sc := transcript.NewScanner(transcript.Carry{}, func([]byte) [32]byte { return [32]byte{} })
	sc.Write(b) // never fails
	return sc.Summary()
}

func Objects(ctx context.Context, db *state.DB, p refs.Project) ([]objects.Hash, error) {
	var names []objects.Hash
	err := db.Refs.View(ctx, p, func(tx *refs.Tx) error {
		for h, err := range tx.All(ctx) {
			if err != nil {
				return err
			}
			names = append(names, h)
		}
		return nil
	})
	return names, err
}

// Counted contains the plain tokens of the messages of a session, as a model reads them. It is cached and extended when
// the session grows, so each message is counted once.
type Counted struct {
	Messages []planning.Message
	Raw      int // of all messages
	Size     int64
	Values   int
	LastID   string
	Open     bool // a message has begun but contains only thinking so far
	// only text of the client so far, which belongs to the first message
	Lead bool
}

const countedVersion = 4

func countedPath(db *state.DB, h objects.Hash) string {
	return db.CachePath("counts", h.String())
}

// readCounted returns what is known of a growth point.
func readCounted(db *state.DB, h objects.Hash) (c Counted, ok bool) {
	if ok = state.ReadCache(countedPath(db, h), countedVersion, &c); ok {
		db.Touch(countedPath(db, h))
	}
	return c, ok
}

// Counts returns the counted messages of the session at p. Raw is without those that the user withdrew.
func Counts(ctx context.Context, db *state.DB, project refs.Project, s *state.Session, p *records.Point) (Counted, error) {
	if c, ok := readCounted(db, p.Original); ok {
		return c.holding(p.Rewound), nil
	}
	c := Counted{}
	chain := s.Chain(p)
	for _, q := range slices.Backward(chain) {
		if earlier, ok := readCounted(db, q.Original); ok {
			c = earlier
			break
		}
	}
	err := originals.Stream(ctx, db, project, p.Original, func(r io.Reader) error {
		if _, err := io.CopyN(io.Discard, r, c.Size); err != nil {
			return err
		}
		return c.Extend(ctx, r, max(1, db.Opts.Workers))
	})
	if err != nil {
		return c, fmt.Errorf("count %s: %w", records.ShortID(s.ID), err)
	}
	c.Size = p.Size
	db.WriteCache(countedPath(db, p.Original), countedVersion, &c)
	c = c.holding(p.Rewound)
	noteTokens(db, project, p.Original, c.Raw)
	return c, nil
}

// holding returns c with a Raw of only the messages that hold.
func (c Counted) holding(rewound transcript.Spans) Counted {
	for _, x := range c.Messages {
		if rewound.Has(x.First) {
			c.Raw -= x.Raw
		}
	}
	return c
}

// countBatch is how many bytes of text are counted at a time, while the next ones are read.
const countBatch = 128 << 10

// Extend counts the messages of r, which starts after the text counted by c.
func (c *Counted) Extend(ctx context.Context, r io.Reader, workers int) error {
	counter := transcript.Counter{LastID: c.LastID}
	var texts []string
	var of []int // index of the message of each text
	size := 0
	settle := func() {} // adds the counts of the batch before
	flush := func() {
		settle()
		counts, index := countRaw(texts, workers), of
		settle = func() {
			for i, n := range <-counts {
				c.Messages[index[i]].Raw += n
				c.Raw += n
			}
		}
		texts, of, size = nil, nil, 0
	}
	base := c.Values
	for v, err := range transcript.Stream(r, originals.HugeValue) {
		if err != nil {
			return err
		}
		c.Values = base + v.N
		if v.Opaque {
			continue
		}
		msg, err := transcript.Decode(v)
		if err != nil {
			continue // not a record: L1 shows it as opaque
		}
		begins := counter.Add(msg)
		c.Open = c.Open || begins
		opens := c.Open && (begins || msg.Type == "assistant") // an answer starts with a record of thinking
		for text := range transcript.Read(msg) {
			if len(c.Messages) == 0 || opens && !c.Lead {
				c.Messages = append(c.Messages, planning.Message{First: base + v.N})
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
	settle()
	c.LastID = counter.LastID
	return nil
}

// countRaw starts to count the plain tokens of texts. The channel receives the counts.
func countRaw(texts []string, workers int) <-chan []int {
	done := make(chan []int, 1)
	go func() {
		out := make([]int, len(texts))
		state.Parallel(len(texts), workers, func(i int) { out[i] = tokens.Raw(texts[i]) })
		done <- out
	}()
	return done
}

// Tokens returns the tokens of the session at p, and whether they have been counted.
func Tokens(db *state.DB, p *records.Point, known map[objects.Hash]int) (n int, counted bool) {
	raw, counted := known[p.Original]
	return Counter(db, p).Scale(raw), counted
}

// CountNow is the number of bytes of transcripts that are counted as soon as they are added: it takes a few hundredths
// of a second.
const CountNow = 4 << 20

// Estimate returns the tokens of the session at p, estimated from the scan if they have not been counted.
func Estimate(db *state.DB, p *records.Point, known map[objects.Hash]int) int {
	if n, ok := Tokens(db, p, known); ok {
		return n
	}
	c, s := Counter(db, p), p.Snapshot
	if s.Scan.Read > 0 {
		return c.Estimate(s.Scan.Read * 20 / 19) // text and tool calls have 3.8 bytes a token
	}
	return c.Estimate(s.Size / readShare)
}

// readShare is the approximate ratio of a transcript's size to the text that a model reads, right within a factor of
// four for most. [transcript.Carry] is more exact.
const readShare = 5

// Counter returns the counter for the model of a session.
func Counter(db *state.DB, p *records.Point) tokens.Counter {
	if db.Opts.Model != "" {
		return tokens.For(db.Opts.Model)
	}
	return tokens.For(p.Scan.Model)
}

// Material is the input of a compression.
type Material struct {
	Stats planning.Stats
	Marks []planning.Mark
	Input compress.Input
}

// ReadMaterial reads the input of a compression of the session at p, without the tool calls in some messages.
func ReadMaterial(ctx context.Context, db *state.DB, project refs.Project, s *state.Session, p *records.Point,
	without [][2]int) (Material, error) {
	var out Material
	type counting struct {
		c   Counted
		err error
	}
	done := make(chan counting, 1)
	go func() {
		c, err := Counts(ctx, db, project, s, p)
		done <- counting{c, err}
	}()
	items, err := ItemsWithout(ctx, db, project, s, p, without)
	counts := <-done
	if err := errors.Join(err, counts.err); err != nil {
		return out, err
	}
	for _, x := range counts.c.Messages {
		if !p.Rewound.Has(x.First) {
			out.Stats.Messages = append(out.Stats.Messages, x)
		}
	}
	for _, it := range items {
		if it.Kind == version.User || it.Kind == version.Script {
			out.Stats.Typed = append(out.Stats.Typed, it.N)
		}
	}
	out.Input.Items = items
	out.Marks = s.Marks(out.Input, p)
	return out, nil
}

// Items returns the L1 of the session as items of a compression.
func Items(ctx context.Context, db *state.DB, project refs.Project, s *state.Session,
	p *records.Point) ([]version.Item, error) {
	return ItemsWithout(ctx, db, project, s, p, nil)
}

// ItemsWithout is [Items] without the tool calls in some messages.
func ItemsWithout(ctx context.Context, db *state.DB, project refs.Project, s *state.Session, p *records.Point,
	without [][2]int) ([]version.Item, error) {
	l1, err := originals.L1(ctx, db, project, p.Original, refine.Full)
	if err != nil {
		return nil, err
	}
	defer l1.Close()
	echo := s.Echoes(p)
	entries := trust.WithoutEntries(refine.Entries(l1), without)
	return compress.Items(entries, func(n int) bool { return echo[n] })
}

// Messages yields the readable records of a growth point with numbers in span, except those in without.
func Messages(ctx context.Context, db *state.DB, project refs.Project, p *records.Point, span [2]int,
	without [][2]int) iter.Seq2[transcript.Message, error] {
	return func(yield func(transcript.Message, error) bool) {
		err := originals.Stream(ctx, db, project, p.Original, func(r io.Reader) error {
			for v, err := range transcript.Stream(r, originals.HugeValue) {
				if err != nil {
					return err
				}
				if v.N > span[1] {
					return nil
				}
				if v.N < span[0] || v.Opaque || !originals.Outside(v.N, without) {
					continue
				}
				msg, err := transcript.Decode(v)
				if err != nil {
					continue // not a record
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

// noteTokens stores the size of a session for lists; Close writes it.
func noteTokens(db *state.DB, project refs.Project, h objects.Hash, raw int) {
	db.CountedMu.Lock()
	defer db.CountedMu.Unlock()
	if db.Counted == nil {
		db.Counted = map[refs.Project]map[objects.Hash]int{}
	}
	if db.Counted[project] == nil {
		db.Counted[project] = map[objects.Hash]int{}
	}
	db.Counted[project][h] = raw
}
