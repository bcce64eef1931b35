package engines

import (
	"context"
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/objects"
)

// version is that of everything here that has a say in the bytes of a summary beside the prompt: the windows, what is
// checked, how an answer is cut. Raised, recipes get new keys.
const version = 1

// Options are what a Summarizer needs besides its model.
type Options struct {
	Window int   // tokens of a session that the model is shown at once; 0 means DefaultWindow
	Price  Price // of the model; not known means that of Claude models
	Meter  Meter // nil allows everything
}

// A Receipt contains the requests, tokens and corrections of a run of a Summarizer.
type Receipt struct {
	Windows  int   `json:"windows"`
	Requests int   `json:"requests"`
	Again    int   `json:"asked_again"` // windows whose first answer was refused
	Replaced int   `json:"replaced"`    // windows that extract wrote, because the second answer was refused, too
	Trimmed  int   `json:"trimmed"`     // windows whose answer was too long
	Usage    Usage `json:"usage"`
}

// Add returns the sum of two receipts.
func (r Receipt) Add(o Receipt) Receipt {
	return Receipt{r.Windows + o.Windows, r.Requests + o.Requests, r.Again + o.Again, r.Replaced + o.Replaced,
		r.Trimmed + o.Trimmed, r.Usage.Add(o.Usage)}
}

// A Summarizer is an engine that asks a model. It is for one run of [compress.Run] and not safe for goroutines.
type Summarizer struct {
	model     Model
	opts      Options
	done      map[objects.Hash][]written // finished windows, by what was to be summarised
	exchanges []Exchange
	receipt   Receipt
}

// written is a window with what the model made of it.
type written struct {
	window
	segs     []compress.Segment
	replaced bool // the model failed: extract writes it anew for every budget
	trimmed  bool // was counted as trimmed
}

var _ compress.Summarizer = (*Summarizer)(nil)

// New returns an engine that asks m.
func New(m Model, o Options) *Summarizer {
	if o.Window <= 0 {
		o.Window = DefaultWindow
	}
	o.Window = max(o.Window, leastWindow)
	return &Summarizer{model: m, opts: o, done: map[objects.Hash][]written{}}
}

// leastWindow is the smallest window, in tokens.
const leastWindow = 1000

// Metered returns the same engine, unused, with another meter.
func (s *Summarizer) Metered(m Meter) *Summarizer {
	o := s.opts
	o.Meter = m
	return New(s.model, o)
}

// ID names the engine, its model, and what else decides about its answers.
func (s *Summarizer) ID() string { return engineID(s.model, s.opts.Window) }

func engineID(m Model, window int) string {
	name, model, _ := strings.Cut(m.ID(), " ")
	if model != "" {
		model += ", "
	}
	return fmt.Sprintf("%s/%d (%swindow %d, prompt %s)", name, version, model, window, promptID())
}

// Exchanges returns what was asked and answered, in order.
func (s *Summarizer) Exchanges() []Exchange { return s.exchanges }

// Receipt returns what the run has taken so far.
func (s *Summarizer) Receipt() Receipt { return s.receipt }

// Summarize asks the model for the windows of the items. Items that were summarised before are not paid for again: a
// new budget only cuts what there is.
func (s *Summarizer) Summarize(ctx context.Context, req compress.Request) (compress.Summary, error) {
	room := req.Count.Unscale(req.Budget)
	if room <= 0 || len(req.Items) == 0 {
		return compress.Summary{}, ctx.Err()
	}
	key := itemsKey(req)
	ws, ok := s.done[key]
	if !ok {
		for _, w := range windowsOf(req, s.opts.Window) {
			one, err := s.write(ctx, w, share(room, w, req.Items), req.Level)
			if err != nil {
				return compress.Summary{}, err
			}
			ws = append(ws, one)
		}
		s.done[key] = ws
	}
	return s.join(ctx, ws, req, room)
}

// itemsKey names what is to be summarised, whatever the budget.
func itemsKey(req compress.Request) objects.Hash {
	h := objects.NewHasher()
	for _, it := range req.Items {
		t := whole(it)
		fmt.Fprintf(h, "%d %d %d %d %d\n%s", it.N, it.To, it.Kind, it.Weight, len(t), t) // never fails
	}
	fmt.Fprintf(h, "%s", req.Level)
	return h.Sum()
}

// windowsOf cuts a request into windows of at most size tokens, enough of them that no answer must be too long.
func windowsOf(req compress.Request, size int) []window {
	room := req.Count.Unscale(req.Budget)
	return cut(req.Items, max(req.Count.Unscale(size), 2*header), (room+longestAnswer-1)/longestAnswer)
}

// share is the part of room that a window gets: as large as its part of all the items.
func share(room int, w window, items []compress.Item) int {
	all := 0
	for _, it := range items {
		all += tokens.Raw(it.Text) + tokens.Raw(it.Target) + header
	}
	return max(1, int(int64(room)*int64(w.raw)/int64(max(all, w.raw, 1))))
}

// write lets the model write a window: at the second answer that is no good it is left to extract.
func (s *Summarizer) write(ctx context.Context, w window, budget int, level compress.Level) (written, error) {
	s.receipt.Windows++
	var wrong []string
	for try := range 2 {
		if try == 1 {
			s.receipt.Again++
		}
		a, err := s.ask(ctx, question(s.model.ID(), w, budget, level, wrong))
		if err != nil {
			return written{}, err
		}
		list, err := decode(a.Text)
		if err != nil {
			wrong = []string{err.Error()}
			continue
		}
		var segs []compress.Segment
		if segs, wrong = check(list, w); len(wrong) == 0 {
			return written{window: w, segs: segs}, nil
		}
	}
	s.receipt.Replaced++
	return written{window: w, replaced: true}, nil
}

// ask puts one question, if it may be paid for.
func (s *Summarizer) ask(ctx context.Context, q Question) (Answer, error) {
	left := int64(-1)
	if s.opts.Meter != nil {
		var err error
		if left, err = s.opts.Meter.Allow(ctx, s.foresee(ctx, q)); err != nil {
			return Answer{}, err
		}
	}
	q.MaxMicros = left
	a, err := s.model.Ask(ctx, q)
	a.Format, a.Text = answerFormat, strings.ToValidUTF8(a.Text, "\uFFFD")
	a.Usage = a.Usage.sane()
	if a.Usage.Micros == 0 {
		a.Usage.Micros = s.opts.Price.Cost(a.Usage.Input, a.Usage.Output)
	}
	s.receipt.Requests++
	s.receipt.Usage = s.receipt.Usage.Add(a.Usage)
	if s.opts.Meter != nil {
		if spent := s.opts.Meter.Spend(context.WithoutCancel(ctx), a.Model, a.Usage); err == nil {
			err = spent
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return a, fmt.Errorf("ask %s: %w", s.model.ID(), err)
	}
	s.exchanges = append(s.exchanges, Exchange{q, a})
	return a, nil
}

// A counter can say exactly how many tokens a question has.
type counter interface {
	CountTokens(ctx context.Context, q Question) (int, error)
}

// foresee says what an answer may cost at most, by the model's own count of the question if it has one.
func (s *Summarizer) foresee(ctx context.Context, q Question) Usage {
	n := length(q)
	if c, ok := s.model.(counter); ok {
		if exact, err := c.CountTokens(ctx, q); err == nil { // if not, the request itself will say what is wrong
			n = exact
		}
	}
	return Usage{n, q.MaxTokens, s.opts.Price.Cost(n, q.MaxTokens)}
}

// length estimates the tokens of a question.
func length(q Question) int {
	return tokens.For("").Scale(tokens.Raw(q.System) + tokens.Raw(q.Prompt) + tokens.Raw(string(q.Schema)))
}

// join puts the windows together and sees to it that they keep the budget of room plain tokens.
func (s *Summarizer) join(ctx context.Context, ws []written, req compress.Request, room int) (compress.Summary, error) {
	all := 0
	for _, w := range ws {
		all += w.raw
	}
	var out []compress.Segment
	left := room - len(ws) // an empty line between two windows
	for i := range ws {
		w := &ws[i]
		part := max(0, int(int64(room-len(ws))*int64(w.raw)/int64(max(all, 1))))
		segs := w.segs
		var err error
		switch {
		case w.replaced:
			segs, err = extract(ctx, w.items, part, req.Level)
		case size(segs) > part && (len(ws) > 1 || size(segs) > room):
			if !w.trimmed {
				w.trimmed = true
				s.receipt.Trimmed++
			}
			segs, err = trim(ctx, segs, part, req.Level)
		}
		if err != nil {
			return compress.Summary{}, err
		}
		left -= size(segs)
		out = append(out, segs...)
	}
	if left < 0 && size(out) > room {
		var err error
		if out, err = trim(ctx, out, room, req.Level); err != nil {
			return compress.Summary{}, err
		}
	}
	return compress.Summary{Segments: out}, nil
}

// size is the plain tokens of segments, the larger of the two forms they are shown in.
func size(segs []compress.Segment) int {
	return max(tokens.Raw(compress.Text(segs)), tokens.Raw(compress.Markdown(segs)))
}

func extract(ctx context.Context, items []compress.Item, room int, level compress.Level) ([]compress.Segment, error) {
	sum, err := compress.Extract{}.Summarize(ctx, compress.Request{Items: items, Budget: room, Level: level})
	return sum.Segments, err
}

// trim cuts segments down to room plain tokens, by what they cover.
func trim(ctx context.Context, segs []compress.Segment, room int, level compress.Level) ([]compress.Segment, error) {
	items := make([]compress.Item, len(segs))
	for i, s := range segs {
		it := compress.Item{N: i + 1, Text: s.Text}
		switch s.Role {
		case "user":
			it.Kind = compress.User
		case "script":
			it.Kind = compress.Script
		case "assistant":
			it.Kind, it.Closing = compress.Assistant, true
		default:
			it.Kind = compress.Recap // output of tools would count for almost nothing
		}
		items[i] = it
	}
	short, err := extract(ctx, items, room, level)
	if err != nil {
		return nil, err
	}
	for i := range short {
		from := segs[short[i].Src[0][0]-1] // its place in the list stood for its messages
		short[i].Src, short[i].Role = from.Src, from.Role
	}
	return short, nil
}
